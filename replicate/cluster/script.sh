#!/bin/bash
# Made by `replicate submit`; {{if .Count}}tasks {{.First}} and following of{{else}}a job of{{end}} {{.Slurm.Plan}}
#SBATCH --job-name={{.Title}}
{{- if .Count}}
#SBATCH --array={{.Indices}}
{{- end}}
#SBATCH --output={{quote .Logs}}
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --signal=B:TERM@{{.Warning}}
#SBATCH --time={{.TimeLimit}}
#SBATCH --cpus-per-task={{.CPUs}} --mem={{.MemoryMB}}M
{{- if .GPU}}
#SBATCH --gres={{.Slurm.GPU}}
{{- end}}
{{- with .Partition}}
#SBATCH --partition={{.}}
{{- end}}
{{- with .Slurm.Account}}
#SBATCH --account={{.}}
{{- end}}
{{- with .Slurm.QOS}}
#SBATCH --qos={{.}}
{{- end}}
{{- range .Slurm.Lines}}
#SBATCH {{.}}
{{- end}}

cd {{quote .Slurm.Work}} || exit 1
{{- range $name, $value := .Slurm.Environ}}
export {{$name}}={{quote $value}}
{{- end}}
program={{quote .Slurm.Program}}
plan={{quote .Slurm.Plan}}
results={{quote .Slurm.Results}}
{{if .Count}}
task=$(({{.First}} + SLURM_ARRAY_TASK_ID))
echo "task $task on $SLURMD_NODENAME, start $((1 + ${SLURM_RESTART_COUNT:-0}))"

# Slurm sends TERM before the time limit and before it preempts: the worker saves and exits with 130.
"$program" work --plan "$plan" --task "$task" --results "$results" --workers {{.CPUs}} &
worker=$!
stopped=
trap 'stopped=1; kill -TERM "$worker"' TERM
wait "$worker"
code=$?
if [[ $stopped ]]; then
  wait "$worker"
  code=$?
fi

# again LIMIT COUNT puts the task back into the queue, unless it has been there too often.
again() {
  [[ ! -e {{quote (cancelFile .Slurm.Plan)}} ]] || exit "$code" # `replicate cancel` sent TERM
  if (($2 < $1)); then
    echo "task $task: exit $code, back to the queue ($2 of at most $1)"
    scontrol requeue "$SLURM_JOB_ID"
    sleep 60 # Slurm ends this script
  fi
  echo "task $task: exit $code after $2 of at most $1: given up"
}
case $code in
0 | 2) ;; # done; impossible, so trying again is no use
75 | 130) # held by another process; stopped and saved
  ((code != 75)) || sleep $((30 + RANDOM % 60))
  again {{.Slurm.Requeues}} "${SLURM_RESTART_COUNT:-0}"
  ;;
*) # failed, or killed: starts count that were neither saved nor held; one that could not begin has noted nothing
  saved=$(grep -lsE '"exit":(75|130),' {{quote (attempts .Slurm.Plan)}}/"$(printf %06d "$task")"-*.json | wc -l)
  again {{.Slurm.Retries}} $((${SLURM_RESTART_COUNT:-0} - saved))
  ;;
esac
exit "$code"
{{- else}}
code=0
{{- range .Draw}}
"$program" {{.}} || code=$?
{{- end}}
echo "$code" >{{quote (exitFile .Slurm.Plan)}}
exit "$code"
{{- end}}
