# SPDX-License-Identifier: BSD-3-Clause
# Completion of ucx_perftest for bash.
_ucx_perftest()
{
    local current=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD-1]} words=

    case $before in
    -t) words=$(ucx_perftest -h 2>/dev/null |
                awk '$2 == "UCP" || $2 == "UCT" {print $1}') ;;
    -M) words="single serialized multi" ;;
    -E) words="poll sleep" ;;
    -r) words="recv recv_data" ;;
    -D) words="short shortiov bcopy zcopy contig iov iov,iov contig,iov" ;;
    -A) words="thread_spinlock thread_mutex signal poll" ;;
    -b | --csv | --json | -o) ;;
    *) words="--self-fork --check --time --sweep --histogram --csv --json
              --forever --help --version" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _ucx_perftest ucx_perftest
