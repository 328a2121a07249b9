# SPDX-License-Identifier: BSD-3-Clause
# Completion of ucx-plugins for bash.
_ucx_plugins()
{
    local current=${COMP_WORDS[COMP_CWORD]} word command=
    local commands="list show why path probe validate"

    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        -*) ;;
        *) command=${command:-$word} ;;
        esac
    done

    case $command:$current in
    *:-*)
        COMPREPLY=($(compgen -W "--all --json --load --color=auto \
            --color=always --color=never --help --version" -- "$current")) ;;
    show:* | why:* | probe:*)
        COMPREPLY=($(compgen -W "$(ucx-plugins list --color=never 2>/dev/null |
            awk 'NR > 1 && NF == 0 {exit} NR > 1 {print $1}')" \
            -- "$current")) ;;
    validate:*)
        COMPREPLY=($(compgen -f -X '!*.json' -- "$current")
                   $(compgen -d -- "$current")) ;;
    list:* | path:*) COMPREPLY=() ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
    esac
}
complete -o filenames -F _ucx_plugins ucx-plugins
