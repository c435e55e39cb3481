/**
 * What a statement that came to something else leaves doubtful: the names that it writes, what is made from them later, and the transaction
 * block that failed with it.
 */
import type { Answer } from '../test/sql-oracle/answer.ts';
import { unquoted } from './psql-script.ts';

const name = String.raw`"?([a-z_][\w.]*)"?`;
const written = new RegExp(
  String.raw`\b(?:into|update|delete\s+from|table|view|index|type|domain|function|procedure|sequence|schema|trigger|rule|truncate|copy|prepare|declare|operator|aggregate|cast|of|inherits?)\s*(?:\(\s*|\s)(?:if\s+(?:not\s+)?exists\s+|only\s+|local\s+|session\s+)*${name}`,
  'gi',
);

export class Doubt {
  readonly #names = new Set<string>();
  readonly #relations = new Set<string>();
  /** What a view, a rule or a trigger mentions, by the relations whose statements it rewrites. */
  readonly #reached = new Map<string, readonly string[]>();
  /** Names that the block under way writes, and whether it failed on one side alone. */
  #block: { readonly names: string[]; isDoubtful: boolean } | null = null;

  /** Is what the statement reads doubtful, or the block that it ends? */
  isAbout(sql: string): boolean {
    return (endsBlock(sql) && this.#block?.isDoubtful === true) || wordsOf(sql).some((word) => this.#names.has(word));
  }

  /** @param isSame whether both sides came to the same */
  record(sql: string, isSame: boolean, { ours, theirs }: { readonly ours: Answer; readonly theirs: Answer }): void {
    if (/^(?:begin|start\s+transaction)\b/i.test(sql)) this.#block = { names: [], isDoubtful: false };
    const names = this.#withReached(namesWritten(sql));
    this.#define(sql);
    this.#block?.names.push(...names);
    const failsOnOne = (ours.kind === 'error') !== (theirs.kind === 'error');
    if (failsOnOne && this.#block !== null) this.#block.isDoubtful = true;
    if (!isSame || this.isAbout(sql)) {
      for (const each of names) this.#names.add(each);
      if (endsBlock(sql)) for (const each of this.#block?.names ?? []) this.#names.add(each);
    }
    const made = isSame && ours.kind !== 'error' ? /^create\s+(?:temp\w*\s+)?table\s+"?(\w+)"?\s*\(/i.exec(sql) : null;
    if (made !== null && !/\b(?:inherits|partition|like)\b/i.test(sql))
      this.#names.delete((made[1] ?? '').toLowerCase());
    if (endsBlock(sql)) this.#block = null;
  }

  #define(sql: string): void {
    if (/^create\s.*?\b(?:table|view)\b/is.test(sql)) for (const each of namesWritten(sql)) this.#relations.add(each);
    if (!/^create\s.*?\b(?:view|rule|trigger)\b/is.test(sql)) return;
    const mentioned = wordsOf(sql).filter((word) => this.#relations.has(word));
    for (const each of namesWritten(sql)) this.#reached.set(each, [...(this.#reached.get(each) ?? []), ...mentioned]);
  }

  #withReached(names: readonly string[]): readonly string[] {
    const all = new Set(names);
    for (const each of all) for (const word of this.#reached.get(each) ?? []) all.add(word);
    return [...all];
  }
}

function endsBlock(sql: string): boolean {
  return /^(?:commit|end|rollback|abort)\b(?!\s+(?:(?:work|transaction)\s+)?to\b)/i.test(sql);
}

function wordsOf(sql: string): readonly string[] {
  return sql.toLowerCase().match(/[a-z_]\w*/g) ?? [];
}

/** What a statement makes or changes. */
function namesWritten(sql: string): string[] {
  const names = [...sql.matchAll(written)].map(([, each]) => each ?? '');
  const indexed = /\b(?:index|rule|trigger|policy|statistics)\b.*?\b(?:on|to)\s+"?([a-z_]\w*)/is.exec(sql)?.[1];
  const sequences = [...sql.matchAll(/\b(?:nextval|setval)\s*\(\s*'(\w+)/gi)].map(([, each]) => each ?? '');
  return [...names, ...sequences, indexed ?? '']
    .filter((each) => each !== '')
    .map((each) => (each.split('.').at(-1) ?? each).toLowerCase());
}

/** A column that the rows are sorted by, by name or number; `null` where an expression sorts them, or nothing does. */
export function sortColumns(sql: string): readonly string[] | null {
  const outside = withoutParentheses(unquoted(sql));
  const clause = /\border\s+by\b((?:(?!\border\s+by\b).)*)$/is.exec(outside)?.[1];
  if (clause === undefined) return null;
  const list = clause.replace(/\b(?:limit|offset|fetch|for\s+(?:update|share|no|key))\b.*$/is, '').split(',');
  const columns = list.map(
    (item) => /^\s*(?:\w+\.)?(\w+)\s*(?:(?:asc|desc|using\s+\S+)\s*)?(?:nulls\s+\w+\s*)?$/i.exec(item)?.[1] ?? '',
  );
  return columns.includes('') ? null : columns.map((column) => column.toLowerCase());
}

function withoutParentheses(sql: string): string {
  const inner = /\([^()]*\)/g;
  let text = sql;
  for (let last = ''; last !== text; ) {
    last = text;
    text = text.replaceAll(inner, ' _ + _ ');
  }
  return text;
}
