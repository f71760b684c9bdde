#!/usr/bin/env bash
# Images at the paper's length of training, on a GPU (figures/gallery/archive/images-declared.md):
#
#	ci/gpu.sh         the next pieces for at most LIMIT seconds (540); all of it resumes where it ended
#	ci/gpu.sh tiny    panels c and b, and g as in Table 2, from the data sample on the CPU, in minutes
#
# In this order: the checkpoints of width 16 for seeds 0 to 7, panels c and b of Figure 1, the checkpoints of width 64,
# panel c at width 64, and with g as in Table 2 (its held-out loss is the metric g-loss of the runs), the lengths of
# training, then the further figures at medium. Exit code 75 says that there is more to do: call it again. RESULTS is the
# folder of the runs (results), BACKEND the backend (xla:cuda); TVPS_DATA has CIFAR-10.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

limit=${LIMIT:-540} results=${RESULTS:-results} backend=${BACKEND:-xla:cuda}
program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
go build -o "$program/replicate" ./replicate

# piece ARGUMENT... runs the program within what is left of the time.
piece() {
  local left=$((limit - SECONDS)) code=0
  ((left > 5)) || exit 75
  echo "== $*"
  timeout --signal INT --kill-after 30 "$left" "$program/replicate" "$@" --backend "$backend" || code=$?
  ((code != 124 && code != 130 && code != 137)) || exit 75
  ((code == 0)) || exit "$code"
}

# figure PANEL SEEDS NAME ARGUMENT... computes a panel of Figure 1.
figure() {
  piece fig1 --panel "$1" --seeds "$2" --results "$results" --out "$results/figures/$3" "${@:4}"
}

table2=(--set g-network=conv5 --set g-input=pixels --set g-rate=1e-4 --set g-schedule=constant --set g-join=first)
case ${1:-} in
"")
  for seed in {0..7}; do piece pretrain --seed "$seed"; done
  for seeds in 0-3 0-7; do
    for panel in c b; do figure $panel $seeds "$panel-$seeds" --scale medium; done
  done
  for seed in 0 1 2; do piece pretrain --seed "$seed" --width 64; done
  wide=(--scale medium --stride 22 --set width=64)
  figure c 0-2 wide "${wide[@]}"
  figure c 0-2 conv5 "${wide[@]}" "${table2[@]}" --set g-epochs=200
  for panel in c:55 b:85; do
    for start in pretrained reinit; do
      for updates in 0 1000 300 100; do
        figure "${panel%:*}" 0-3 "${panel%:*}-$updates-$start" --scale medium --stride "${panel#*:}" \
          --set checkpoint=committed --set max-updates=$updates --set start=$start \
          --series everything,recent,finetune,ours,exact,pretrained
      done
    done
  done
  for further in fig3:a fig6:a fig8:a,b fig13:a,b,c,d fig14:a; do
    piece "${further%:*}" --panel "${further#*:}" --scale medium --results "$results" --out "$results/figures/${further%:*}"
  done
  ;;
tiny)
  backend=${BACKEND:-xla:cpu}
  tiny=(--scale tiny --set max-updates=0 --set convolution=winograd)
  for panel in c b; do figure $panel 0 "$panel-tiny" "${tiny[@]}"; done
  figure c 0 conv5-tiny "${tiny[@]}" "${table2[@]}" --set g-updates=5
  ;;
*) echo "usage: ci/gpu.sh [tiny]" >&2 && exit 2 ;;
esac
echo "== all pieces are complete"
