/** `moirai completion`: what a shell needs to complete commands and their options; made from the commands themselves. */
import type { Command } from '@commander-js/extra-typings';
import type { ExitCode, Host } from './host.ts';
import { oneOf } from './options/option-values.ts';

export function addCompletion(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('completion')
    .description('A script with which bash completes commands and options.')
    .argument('<shell>', 'bash', oneOf('shell', ['bash']))
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', completionHelp)
    .action(() => {
      host.out(bashScript(moirai));
      end(0);
    });
}

/** A word that is no option is a file, as bash completes it. */
function bashScript({ commands }: Command): string {
  const names = commands.map((command) => command.name());
  const cases = commands.map((command) => `      ${command.name()}) words='${optionsOf(command).join(' ')}' ;;`);
  return `_moirai() {
  local word=\${COMP_WORDS[COMP_CWORD]} words=''
  if [ "$COMP_CWORD" -eq 1 ] || [ "\${COMP_WORDS[1]}" = help ]; then
    words='${[...names, 'help', '--help', '--version'].join(' ')}'
  elif [[ $word == -* ]]; then
    case \${COMP_WORDS[1]} in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _moirai moirai
`;
}

function optionsOf({ options }: Readonly<Pick<Command, 'options'>>): string[] {
  return [...options.flatMap(({ long }) => long ?? []), '--help'];
}

const completionHelp = `
Examples:
  source <(moirai completion bash)                                         in ~/.bashrc
  moirai completion bash > /etc/bash_completion.d/moirai                   for all users
`;
