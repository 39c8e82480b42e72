#!/bin/sh
# What a hoster refuses of a push, ref by ref; which branches are closed stands in files beside the repository.
name=${1#refs/heads/}
gone=0000000000000000000000000000000000000000

while read -r branch; do
  if [ "$branch" = "$name" ]; then
    echo "error: GH006: Protected branch update failed for $1." >&2
    echo "error: Changes must be made through a pull request." >&2
    exit 1
  fi
done < "$GIT_DIR/bed/protected"

{
  read -r pattern
  if [ -n "$pattern" ]; then
    case "$name" in
      $pattern) cat >&2; exit 1 ;;
    esac
  fi
} < "$GIT_DIR/bed/refused"

if [ "$BED_WORKFLOWS" = no ] && [ "$3" != "$gone" ]; then
  touched=$(git log --format= --name-only "$3" --not --all -- .github/workflows | head -n 1)
  if [ -n "$touched" ]; then
    echo "refusing to allow a Personal Access Token to create or update workflow \`$touched\` without \`workflow\` scope" >&2
    exit 1
  fi
fi
exit 0
