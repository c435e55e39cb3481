/** What of a schema moirai does not run, and what that means for statements: a table that is missing, triggers that write. */
import { type DdlRunner, lastName } from './run-ddl.ts';

export interface UnreadDdl {
  /** Why there is no table of this name, where its DDL was left out. */
  readonly tables: ReadonlyMap<string, string>;
  /** Their names. */
  readonly functions: ReadonlySet<string>;
  /** By table: a trigger or a rule that may read or write other rows, `the trigger counted`. */
  readonly triggers: ReadonlyMap<string, string>;
  /** Tables with a column of a type that moirai takes as text: its equal values may have different texts. */
  readonly textTables: ReadonlySet<string>;
  /** What is taken for granted, as clauses. */
  readonly assumed: readonly string[];
}

export function unreadDdl({
  leftOut,
  asText,
  textTables,
}: Pick<DdlRunner, 'leftOut' | 'asText' | 'textTables'>): UnreadDdl {
  const functions = new Map<string, string>();
  const tables = new Map<string, string>();
  const triggers = new Map<string, string>();
  const kinds = new Map<string, number>();
  let setsColumns = false;
  for (const { sql, reason } of leftOut) {
    const text = withoutComments(sql);
    const [, fn] = /^create\s+(?:or\s+replace\s+)?function\s+([\w."]+)/i.exec(text) ?? [];
    const [, table] =
      /^create\s+(?:unlogged\s+|or\s+replace\s+|materialized\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?([\w."]+)/i.exec(
        text,
      ) ?? [];
    const [, trigger, owner] =
      /^create\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\s+([\w."]+)[^]*?\bon\s+([\w."]+)/i.exec(text) ?? [];
    const [, rule, ruled] =
      /^create\s+(?:or\s+replace\s+)?rule\s+([\w."]+)\s+as\s+on\s+\w+\s+to\s+([\w."]+)/i.exec(text) ?? [];
    if (fn !== undefined) functions.set(lastName(fn), text);
    if (table !== undefined) tables.set(lastName(table), reason);
    if (trigger !== undefined && owner !== undefined) {
      const [, called] = /\bexecute\s+(?:function|procedure)\s+([\w."]+)/i.exec(text) ?? [];
      if (onlySetsColumns(functions.get(lastName(called ?? '')))) setsColumns = true;
      else triggers.set(lastName(owner), `the trigger ${lastName(trigger)}`);
    } else if (rule !== undefined && ruled !== undefined) triggers.set(lastName(ruled), `the rule ${lastName(rule)}`);
    else {
      const [kind = 'statements'] = /^\w+(?:\s+(?:or\s+replace|unique|materialized))?\s+\w+/i.exec(text) ?? [];
      kinds.set(kind.toUpperCase(), (kinds.get(kind.toUpperCase()) ?? 0) + 1);
    }
  }
  const all = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return {
    tables,
    functions: new Set(functions.keys()),
    triggers,
    textTables,
    assumed: [
      ...(all === '' ? [] : [`parts of the schema that moirai does not run change nothing: ${all}`]),
      ...[...asText].map((type) => `columns of the type ${type} are as text`),
      ...(setsColumns ? ['triggers that only set columns of their own row change no other'] : []),
    ],
  };
}

/** A function of a trigger without any statement on tables. */
function onlySetsColumns(fn: string | undefined): boolean {
  if (fn === undefined) return false;
  const body = fn.slice(fn.indexOf('$'));
  return /\bnew\b/i.test(body) && !/\b(?:select|insert|update|delete|perform|execute|call|merge)\b/i.test(body);
}

function withoutComments(sql: string): string {
  return sql.replace(/^(?:\s|--.*\n|\/\*[^]*?\*\/)*/, '');
}
