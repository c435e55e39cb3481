/** The code blocks of a Markdown text, and the commands in those that show a terminal. CommonMark, section 4.5, as far as we use it. */
export interface CodeBlock {
  /** The first word after the fence. */
  readonly language: string;
  /** The words after it. */
  readonly notes: readonly string[];
  /** The lines between the fences, each with its line break. */
  readonly text: string;
  /** Of its first line of text, from 1. */
  readonly line: number;
}

export interface Command {
  readonly command: string;
  /** What it prints on standard output. */
  readonly output: string;
  readonly line: number;
}

export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly fence: string; readonly info: string; readonly line: number; readonly lines: string[] } | null =
    null;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open === null) {
      const { fence, info } = /^(?<fence>`{3,})(?<info>[^`]*)$/.exec(line)?.groups ?? {};
      if (fence !== undefined) open = { fence, info: info ?? '', line: index + 2, lines: [] };
    } else if (line.startsWith(open.fence) && line.trimEnd() === '`'.repeat(line.trimEnd().length)) {
      const [language = '', ...notes] = open.info.trim().split(/\s+/);
      blocks.push({ language, notes, text: open.lines.map((text) => `${text}\n`).join(''), line: open.line });
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  if (open !== null) throw new Error(`the code block at line ${open.line - 1} has no end`);
  return blocks;
}

/** A line that starts with `$ ` is a command; what follows, up to the next, is what it prints. */
export function commandsOf(block: CodeBlock): Command[] {
  const commands: Command[] = [];
  for (const [index, text] of block.text.split('\n').slice(0, -1).entries()) {
    const line = block.line + index;
    const last = commands.at(-1);
    if (text.startsWith('$ ')) commands.push({ command: text.slice(2), output: '', line });
    else if (last === undefined) throw new Error(`line ${line}: a console block starts with a command: "$ ..."`);
    else commands[commands.length - 1] = { ...last, output: `${last.output}${text}\n` };
  }
  return commands;
}
