#!/bin/bash
# Made by `replicate submit`.
#SBATCH --job-name={{.Name}}
#SBATCH --output={{quote .Logs}}
#SBATCH --open-mode=append
#SBATCH --requeue --export=ALL
{{- if .Workers}}
#SBATCH --array=0-{{.Last}}
#SBATCH --signal=B:USR1@120
{{- end}}
#SBATCH --cpus-per-task=2 --mem-per-cpu=3G
{{- range .Lines}}
#SBATCH {{.}}
{{- end}}

cd {{quote .Folder}} || exit 2
echo "$SLURM_JOB_NAME on $SLURMD_NODENAME, start $((1 + ${SLURM_RESTART_COUNT:-0}))"
{{- if .Workers}}

# Slurm sends USR1 two minutes before the time limit: the worker saves its work, and the job goes back to the queue. It
# sends TERM to cancel or preempt the job, and puts a preempted one back itself.
{{.CommandLine}} --workers "$SLURM_CPUS_PER_TASK" &
worker=$!
trap 'late=1; kill -TERM "$worker"' USR1
trap 'kill -TERM "$worker"' TERM
while true; do
  wait "$worker"
  code=$?
  kill -0 "$worker" 2>/dev/null || break # otherwise a signal ended the wait
done
# At most 100 times: a step that takes longer than the time limit would begin for ever.
if [[ ${late-} ]] && ((code != 0 && code != 2 && ${SLURM_RESTART_COUNT:-0} < 100)); then
  scontrol requeue "$SLURM_JOB_ID" && sleep 60 # Slurm ends this script
fi
exit "$code"
{{- else}}
exec {{.CommandLine}}
{{- end}}
