# SPDX-License-Identifier: BSD-3-Clause
# Completion of ucx_info for bash.
_ucx_info()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}

    case $previous in
    -P | --place) COMPREPLY=($(compgen -W "self intra inter" -- "$current")) ;;
    -D | --device-type)
        COMPREPLY=($(compgen -W "all shm net self acc" -- "$current")) ;;
    -t | --transport)
        COMPREPLY=($(compgen -W "self $(ucx-plugins list --json 2>/dev/null |
            sed -n '/"transports"/,/^ *]/s/^ *"name": "\(.*\)".*/\1/p')" \
            -- "$current")) ;;
    --connect) COMPREPLY=($(compgen -A hostname -- "$current")) ;;
    *)
        COMPREPLY=($(compgen -W "$(ucx_info --help 2>/dev/null |
            grep -o -e '--[a-z][a-z-]*' | sort -u)" -- "$current")) ;;
    esac
}
complete -F _ucx_info ucx_info
