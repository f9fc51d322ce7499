export LC_ALL=C
sandbox="" token="" unanswered="" came="" secrets=()
folder=$(mktemp -d) || exit 3
again=yes

leave() {
    [ -z "$token" ] || removal
    [ -z "$sandbox" ] || kill "$sandbox" 2> /dev/null
    rm -rf "$folder"
}

stop() { # exit code, why
    printf '%s\n' "$2" >&2
    exit "$1"
}

request() { # curl's words: keeps the answer's status and kind, and its body in a file
    : > "$folder/head"
    : > "$folder/body"
    answer=$(curl -sS --max-time 60 -D "$folder/head" -o "$folder/body" -w '%{http_code} %{content_type}' "$@") || answer=none
    case " $* " in *" -I "*) : > "$folder/body" ;; esac # curl writes the head there
}

hide() { # a secret that is not to be printed
    secrets[${#secrets[@]}]=$1
}

send() { # what it is, curl's words
    local what=$1
    shift
    request "$@"
    [ "$answer" != none ] || [ -n "$unanswered" ] || stop 3 "$what: no answer"
    now=$(head -c 4000 "$folder/body" | tr -d '\000-\037\177' | sed 's/\("authenticationToken" *: *"\)[^"]*/\1[secret]/')
    for secret in "${secrets[@]}"; do now=${now//"$secret"/[secret]}; done
    now="$what was answered $answer ${now:0:500}"
    printf '%s\n' "$now"
}

serve() { # options of the sandbox: starts one, and takes its address
    : > "$folder/sandbox"
    registry-contracts sandbox --port 0 "$@" > "$folder/sandbox" 2>&1 &
    sandbox=$!
    while BASE=$(sed -n 's/^sandbox ready at \(http[^ ]*\).*/\1/p' "$folder/sandbox") && [ -z "$BASE" ]; do
        kill -0 "$sandbox" 2> /dev/null || stop 3 "no sandbox: $(tail -n 3 "$folder/sandbox")"
        sleep 0.1
    done
}

in_json() { # a text: escapes what ends a text of JSON
    printf %s "$1" | sed 's/["\\]/\\&/g'
}

sign_in() { # account, e-mail, password: keeps the token
    [ -n "$2" ] && [ -n "$3" ] || stop 2 "the account $1 is not set: set REGISTRY_EMAIL and REGISTRY_PASSWORD, or REGISTRY_NAU_EMAIL and so on for another than the author"
    printf '{"email":"%s","password":"%s"}' "$(in_json "$2")" "$(in_json "$3")" > "$folder/sent"
    request -X POST "$BASE/api/v2013/authentication/token" -H 'Accept: application/json' \
        -H 'Content-Type: application/json' --data-binary "@$folder/sent"
    [ "$answer" != none ] || stop 3 "sign-in as $1: no answer"
    token=$(sed -n 's/.*"authenticationToken" *: *"\([^"]*\)".*/\1/p' "$folder/body")
    [ -n "$token" ] || stop 2 "sign-in as $1 failed: answered $answer"
    hide "$token"
}

member() { # name, place: that member of the last answer, counted from 1
    grep -o "\"$1\" *: *\"\{0,1\}[^\",}]*" "$folder/body" | sed -n "$2s/.*[: \"]//p"
}

steady() { # a text without its moments
    sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?/MOMENT/g'
}

is() { # the status and the kind of the answer in the run, as a pattern
    came=$now
    case $answer in $1) ;; *) again=no ;; esac
}

holds() { # the body in the run
    [ "$(printf %s "$1" | steady)" = "$(steady < "$folder/body")" ] || again=no
}

bytes() { # the body in the run, as printf makes it
    # shellcheck disable=SC2059
    printf "$1" | cmp -s - "$folder/body" || again=no
}

lacks_errors() {
    ! grep -qi '"errors"' "$folder/body" || again=no
}

echoes() { # a secret that the answer in the run held
    came=$now
    cat "$folder/head" "$folder/body" | grep -qF -e "$1" || again=no
}

names() { # those that are looked for, and those that the answer in the run had of them
    [ "$(grep -oE "$1" "$folder/body" | tr '\n' ' ')" = "$2" ] || again=no
}

more() { # a number, and a member that each item has
    [ "$(grep -o "\"$2\" *:" "$folder/body" | wc -l)" -gt "$1" ] || again=no
}

trap leave EXIT
