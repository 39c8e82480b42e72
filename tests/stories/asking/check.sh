#!/bin/sh
# A test command that behaves as the file beside it says, once: `check.sh FOLDER`. Afterwards it runs the real tests.
how=$(cat "$1/how" 2>/dev/null)
rm -f "$1/how"
case $how in
  flood) yes "a line of a test that says too much" | head -c 60000000; exit 1 ;;
  hang) echo "watching for changes"; echo $$ >"$1/pids"; setsid sleep 300 & echo $! >>"$1/pids"; sleep 300 ;;
  daemon) setsid sh -c 'trap "" TERM HUP; sleep 300' </dev/null >/dev/null 2>&1 & echo $! >"$1/pids" ;;
esac
exec python3 -m unittest discover -s tests -t .
