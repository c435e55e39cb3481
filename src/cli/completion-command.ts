/** `moirai completion`: what a shell needs to complete commands and their options; made from the commands themselves. */
import type { Command, Option } from '@commander-js/extra-typings';
import type { ExitCode, Host } from './host.ts';
import { oneOf } from './options/option-values.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const shells = ['bash', 'zsh', 'fish'] as const;

export function addCompletion(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('completion')
    .description('A script with which a shell completes commands and options.')
    .argument('<shell>', shells.join(', '), oneOf('shell', shells))
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', completionHelp)
    .action((shell) => {
      host.out(scripts[shell](moirai));
      end(0);
    });
}

/** A word that is no option is a file, as bash completes it. */
function bashScript({ commands }: Command): string {
  const names = commands.map((command) => command.name());
  const cases = commands.map(
    (command) =>
      `      ${command.name()}) words='${optionsOf(command)
        .map(({ name }) => name)
        .join(' ')}' ;;`,
  );
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

/** The script may be read by `source`, or lie in a folder of `fpath` as `_moirai`. */
function zshScript({ commands }: Command): string {
  const described = (name: string, text: string): string => quoted(`${name}:${text.replaceAll(':', '\\:')}`);
  const names = commands.map((command) => described(command.name(), firstSentence(command.description())));
  const cases = commands.map((command) => {
    const options = optionsOf(command).map(({ name, text }) => described(name, text));
    return `      ${command.name()}) offered=(${options.join(' ')}) ;;`;
  });
  return `#compdef moirai
_moirai() {
  local -a offered
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    offered=(${[...names, described('help', 'what a command does and takes')].join(' ')})
    _describe command offered
  elif [[ $words[CURRENT] == -* ]]; then
    case $words[2] in
${cases.join('\n')}
    esac
    _describe -o option offered
  else
    _files
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _moirai "$@"; else compdef _moirai moirai; fi
`;
}

function fishScript({ commands }: Command): string {
  const first = 'complete -c moirai -n __fish_use_subcommand -f';
  const names = [...commands.map((command) => command.name()), 'help'];
  return [
    ...commands.map((command) => `${first} -a ${command.name()} -d ${quoted(firstSentence(command.description()))}`),
    `${first} -a help -d 'what a command does and takes'`,
    `complete -c moirai -n '__fish_seen_subcommand_from help' -f -a ${quoted(names.join(' '))}`,
    ...commands.flatMap((command) =>
      optionsOf(command).map(
        ({ name, text, takesValue }) =>
          `complete -c moirai -n '__fish_seen_subcommand_from ${command.name()}' -l ${name.slice(2)} ` +
          `${takesValue ? '-r ' : ''}-d ${quoted(text)}`,
      ),
    ),
    '',
  ].join('\n');
}

interface CompletedOption {
  /** With its dashes. */
  readonly name: string;
  readonly text: string;
  readonly takesValue: boolean;
}

function optionsOf({ options }: Readonly<Pick<Command, 'options'>>): CompletedOption[] {
  const help = { name: '--help', text: 'show what a command does and takes', takesValue: false };
  return [...options.flatMap(completedOption), help];
}

function completedOption({ long, description, required, optional }: Readonly<Option>): CompletedOption[] {
  if (long === undefined || long === null) return [];
  return [{ name: long, text: description, takesValue: required || optional }];
}

function firstSentence(text: string): string {
  return text.split(/[.:;] /)[0] ?? text;
}

/** As one word of a shell: bash, zsh and fish read a quote outside of quotes, after a backslash, alike. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const completionHelp = `
Examples:
  source <(moirai completion bash)                                         in ~/.bashrc
  source <(moirai completion zsh)                                          in ~/.zshrc, after compinit
  moirai completion fish > ~/.config/fish/completions/moirai.fish
  moirai completion bash > /etc/bash_completion.d/moirai                   for all users
`;
