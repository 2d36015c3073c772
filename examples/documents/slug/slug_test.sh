# What a slug script has to do: a title gives the end of its address.
# Usage: sh slug_test.sh SCRIPT
script=$1
failed=0
check() {
  found=$(sh "$script" "$1")
  [ "$found" = "$2" ] || { echo "FAIL: \"$1\" gives \"$found\", not \"$2\""; failed=1; }
}
check "Release" "release"
check "Hello World" "hello-world"
check "What's new?" "what-s-new"
[ $failed = 0 ] && echo PASS
exit $failed
