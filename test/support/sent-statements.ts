/** Statements as a library sends them beside those that the source reader finds, in one form. */
import type { Application, Step, UnitStep, Value } from '../../src/analyze/application.ts';
import { parseStatement } from '../../src/sql/parse.ts';

export interface SentStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A program whose exported functions have the snippets as bodies. */
export function programOf(head: string, snippets: readonly string[]): string {
  return [head, ...snippets.map((snippet, index) => `export async function unit${index}() { ${snippet} }`)].join('\n');
}

/** Runs a snippet with these names. */
export function runSnippet(snippet: string, names: Readonly<Record<string, unknown>>): Promise<unknown> {
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...values: unknown[]) => Promise<unknown>;
  return new AsyncFunction(...Object.keys(names), snippet)(...Object.values(names));
}

/** By the name of the unit; what is not understood stands for its statement. */
export function statementsByUnit({
  units,
  notUnderstood,
}: Application): Readonly<Record<string, readonly SentStatement[]>> {
  const unreached = notUnderstood.map(({ reason }) => ({ sql: reason, parameters: [] }));
  const entries = units.map(({ name, steps }) => [name, statementsIn(steps)] as const);
  return Object.fromEntries(unreached.length === 0 ? entries : [...entries, ['unreached', unreached]]);
}

function statementsIn(steps: readonly (Step | UnitStep)[]): readonly SentStatement[] {
  return steps.flatMap((step): readonly SentStatement[] => {
    switch (step.kind) {
      case 'statement':
        return [{ sql: step.sql, parameters: step.parameters.map(constantOf) }];
      case 'not-understood':
        return [{ sql: step.reason, parameters: [] }];
      case 'transaction':
      case 'loop':
        return statementsIn(step.steps);
      case 'branch':
        return [...statementsIn(step.ifTrue), ...statementsIn(step.ifFalse)];
      default:
        return [];
    }
  });
}

/** The libraries that read rows first get rows of ones. */
function constantOf(value: Value): unknown {
  if (value.kind === 'column') return 1;
  return value.kind === 'constant' ? value.value : value;
}

/**
 * The tree of PostgreSQL's parser with the parameters in their places: quotes, parentheses and the case of keywords do not count. A text that does not
 * parse stands for itself.
 */
export function treeOf({ sql, parameters }: SentStatement): string {
  return JSON.stringify(parsed(sql), (name, value: unknown) => {
    if (/(?:location|_start|_end)$/.test(name)) return undefined;
    const number = (value as { ParamRef?: { number?: number } } | null)?.ParamRef?.number;
    return number === undefined ? value : { parameter: parameters[number - 1] };
  });
}

/**
 * As `treeOf`, without what means nothing: columns that get DEFAULT, names of results, the table's name where there is only one, and whether a value is
 * bound or written into the text.
 */
export function meaningOf(statement: SentStatement): string {
  const tree = treeOf(statement);
  const tables = new Set([...tree.matchAll(/"relname":"(\w+)"/g)].map(([, name]) => name));
  return JSON.stringify(JSON.parse(tree), (name, value: unknown) => {
    if (name === 'alias' && tables.size === 1) return undefined;
    const literal = (value as { A_Const?: Literal } | null)?.A_Const;
    if (literal !== undefined) return { parameter: literalOf(literal) };
    if (name === 'SelectStmt') return { ...(value as Node), targetList: shown(value as Node) };
    if (name === 'returningClause') return { exprs: withoutNames((value as Node)['exprs']) };
    if (name === 'InsertStmt') return withoutDefaults(value as Node);
    const fields = (value as { ColumnRef?: { fields?: unknown[] } } | null)?.ColumnRef?.fields;
    return fields !== undefined && tables.size === 1 ? { ColumnRef: { fields: fields.slice(-1) } } : value;
  });
}

interface Literal {
  readonly ival?: { readonly ival?: number };
  readonly sval?: { readonly sval?: string };
  readonly boolval?: { readonly boolval?: boolean };
}

function literalOf({ ival, sval, boolval }: Literal): unknown {
  if (ival !== undefined) return ival.ival ?? 0;
  return sval === undefined ? (boolval?.boolval ?? null) : sval.sval;
}

type Node = Readonly<Record<string, unknown>>;

/** What SELECT shows; of one table, its columns without the table's name. */
function shown({ targetList, fromClause = [] }: Node): unknown {
  const isOneTable =
    (fromClause as object[]).every((from) => 'RangeVar' in from) && (fromClause as object[]).length === 1;
  const values = withoutNames(targetList) as { ColumnRef?: { fields: unknown[] } }[] | undefined;
  if (!isOneTable) return values;
  return values?.map((one) =>
    one.ColumnRef === undefined ? one : { ColumnRef: { fields: one.ColumnRef.fields.slice(-1) } },
  );
}

function withoutNames(targets: unknown): unknown {
  return (targets as { ResTarget: Node }[] | undefined)?.map(({ ResTarget: { val } }) => val);
}

function withoutDefaults(insert: Node): Node {
  const { cols, selectStmt } = insert as { cols?: unknown[]; selectStmt?: { SelectStmt: { valuesLists?: RowNode[] } } };
  const rows = selectStmt?.SelectStmt.valuesLists ?? [];
  const isDefault = (column: number): boolean =>
    rows.length > 0 && rows.every(({ List: { items } }) => 'SetToDefault' in (items[column] ?? {}));
  const kept = (list: readonly unknown[] = []): readonly unknown[] => list.filter((_, column) => !isDefault(column));
  return {
    ...insert,
    cols: kept(cols),
    selectStmt: rows.length === 0 ? selectStmt : rows.map(({ List }) => kept(List.items)),
  };
}

interface RowNode {
  readonly List: { readonly items: readonly object[] };
}

function parsed(sql: string): unknown {
  try {
    return parseStatement(sql);
  } catch {
    return sql;
  }
}
