/**
 * Reads PostgreSQL's isolation specifications (src/test/isolation/README, "Test specification files"): set-up, sessions of named steps,
 * permutations. Markers of permutations say when a step may be reported, and are read over: here steps are reported as they are answered.
 */
export interface IsolationSpec {
  readonly setUp: readonly string[];
  readonly tearDown: readonly string[];
  readonly sessions: readonly SpecSession[];
  /** Names of steps. */
  readonly permutations: readonly (readonly string[])[];
}

export interface SpecSession {
  readonly setUp: readonly string[];
  readonly tearDown: readonly string[];
  readonly steps: ReadonlyMap<string, string>;
}

type Token = { readonly kind: 'word' | 'name' | 'block' | 'mark'; readonly text: string };

export function parseIsolationSpec(text: string): IsolationSpec {
  const tokens = tokensOf(text);
  const setUp: string[] = [];
  const tearDown: string[] = [];
  const sessions: { setUp: string[]; tearDown: string[]; steps: Map<string, string> }[] = [];
  const permutations: string[][] = [];
  let next = 0;
  const take = (): Token => {
    const token = tokens[next];
    if (token === undefined) throw new Error('a specification ends in the middle of a part');
    next += 1;
    return token;
  };
  while (next < tokens.length) {
    const { text: word } = take();
    const session = sessions.at(-1);
    switch (word) {
      case 'setup':
        (session?.setUp ?? setUp).push(take().text);
        break;
      case 'teardown':
        (session?.tearDown ?? tearDown).push(take().text);
        break;
      case 'session':
        take();
        sessions.push({ setUp: [], tearDown: [], steps: new Map() });
        break;
      case 'step':
        session?.steps.set(take().text, take().text);
        break;
      case 'permutation': {
        const steps: string[] = [];
        for (let depth = 0; next < tokens.length; next += 1) {
          const { kind, text: name } = tokens[next] as Token;
          if (kind === 'mark') depth += name === '(' ? 1 : name === ')' ? -1 : 0;
          else if (kind === 'word' && depth === 0 && keywords.has(name)) break;
          else if (depth === 0) steps.push(name);
        }
        permutations.push(steps);
        break;
      }
      default:
        throw new Error(`a specification has "${word}" where a part begins`);
    }
  }
  const all = permutations.length > 0 ? permutations : interleavings(sessions.map(({ steps }) => [...steps.keys()]));
  return { setUp, tearDown, sessions, permutations: all };
}

const keywords = new Set(['setup', 'teardown', 'session', 'step', 'permutation']);

function tokensOf(text: string): Token[] {
  const pattern = /#[^\n]*|\{([^}]*)\}|"([^"]*)"|([A-Za-z_]\w*|\d+)|([(),*])|\s+|./g;
  const tokens: Token[] = [];
  for (const [all, block, name, word, mark] of text.matchAll(pattern)) {
    if (block !== undefined) tokens.push({ kind: 'block', text: block.trim() });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
    else if (!all.startsWith('#') && all.trim() !== '') throw new Error(`a specification has "${all}"`);
  }
  return tokens;
}

/** Every order of the steps that keeps the order of each session. */
function interleavings(sessions: readonly (readonly string[])[]): string[][] {
  if (sessions.every((steps) => steps.length === 0)) return [[]];
  return sessions.flatMap(([first, ...rest], i) =>
    first === undefined ? [] : interleavings(sessions.with(i, rest)).map((tail) => [first, ...tail]),
  );
}
