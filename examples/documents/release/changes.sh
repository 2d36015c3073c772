# Lists the last COUNT commits by the part of the project that each of them changes most.
# A copy without a history, or a clone of depth 1, has no commits to speak of. Then it is history.txt, a piece of this project's log:
#   git log -n 8 --no-merges --format='@%s' --name-only > history.txt
log=$(git log -n "${COUNT:-20}" --no-merges --format='@%s' --name-only 2>/dev/null)
kept="$(dirname "$0")/history.txt"
[ "$(printf '%s\n' "$log" | grep -c '^@')" -lt 5 ] && [ -f "$kept" ] && log=$(cat "$kept")

# First "part TAB subject" for each commit. A part is a folder, or lib/cli where it has folders; tests count where nothing else changed.
printf '%s\n' "$log" | awk '
  function end_commit(  part, most) {
    for (part in files) if (files[part] > files[most] || (files[part] == files[most] && part < most)) most = part
    if (most != "") print most "\t" subject
    delete files
  }
  /^@/ { end_commit(); subject = substr($0, 2); next }
  /./ {
    depth = split($0, path, "/")
    part = path[1] == "tests" || depth == 2 ? path[1] : depth > 2 ? path[1] "/" path[2] : "top"
    files[part] += part == "tests" ? 0.001 : 1
  }
  END { end_commit() }
' | LC_ALL=C sort -s -t "$(printf '\t')" -k 1,1 | awk -F '\t' '
  $1 != part { part = $1; list = list "- " part "\n" }
  { list = list "  - " $2 "\n"; if (++count[part] > count[most]) most = part }
  END { printf "%d commits, most of them in %s:\n\n%s", NR, most, list }
'
