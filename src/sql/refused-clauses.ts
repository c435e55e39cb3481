/**
 * Clauses that the parser reads and nothing of moirai acts on: refused by name, because a statement without its clause is another statement.
 * A row is a kind of node and a field; the functions give the clause's name where the value means something. Fields that are not here are
 * acted on, or change nothing that a client can see (FILLFACTOR, STORAGE, CONCURRENTLY, MATERIALIZED).
 */
import type { Node } from '@pgsql/types';
import { notSupported, type SqlError, everyIntervalField } from './model/index.ts';

type Fields = Readonly<Record<string, unknown>>;
type Clause = (value: unknown, node: Fields) => string | undefined;

const always =
  (name: string): Clause =>
  (value) =>
    value === false ? undefined : name;
const unless =
  (name: string, ...harmless: readonly unknown[]): Clause =>
  (value) =>
    harmless.includes(value) ? undefined : name;
const option =
  (name: string, clause: string, isRefused: (value: unknown) => boolean = () => true): Clause =>
  (options) =>
    definitions(options).some((each) => each.defname === name && isRefused(argument(each.arg))) ? clause : undefined;
const first =
  (...clauses: readonly Clause[]): Clause =>
  (value, node) =>
    clauses.map((clause) => clause(value, node)).find((name) => name !== undefined);

const sessionModes: Clause = (args, node) =>
  node['name'] === 'SESSION CHARACTERISTICS'
    ? option('transaction_deferrable', 'DEFERRABLE of a session', (value) => value !== 0)(args, node)
    : undefined;
const sequenceOptions = option('cache', 'CACHE of a sequence', (value) => value !== 1);

const clauses: Readonly<Record<string, Readonly<Record<string, Clause>>>> = {
  SelectStmt: { groupDistinct: always('GROUP BY DISTINCT') },
  CreateStmt: {
    partbound: always('PARTITION OF'),
    ofTypename: always('CREATE TABLE OF'),
    accessMethod: unless('an access method of a table', 'heap'),
    tablespacename: unless('TABLESPACE', 'pg_default'),
  },
  IntoClause: {
    accessMethod: unless('an access method of a table', 'heap'),
    tableSpaceName: unless('TABLESPACE', 'pg_default'),
  },
  IndexStmt: { tableSpace: unless('TABLESPACE', 'pg_default') },
  CreateSeqStmt: { options: sequenceOptions },
  AlterSeqStmt: { options: sequenceOptions },
  CreateSchemaStmt: {
    authrole: (_role, { schemaname }) => (schemaname === undefined ? 'CREATE SCHEMA AUTHORIZATION' : undefined),
  },
  ViewStmt: { withCheckOption: unless('WITH CHECK OPTION', 'NO_CHECK_OPTION') },
  AlterTableCmd: {
    subtype: (subtype) => (/^AT_(Enable|Force)RowSecurity/.test(String(subtype)) ? 'row level security' : undefined),
  },
  CreateExtensionStmt: { extname: (name) => (extensions.has(String(name)) ? undefined : `extension ${String(name)}`) },
  VariableSetStmt: { args: sessionModes },
  ListenStmt: { conditionname: always('LISTEN') },
  ExplainStmt: {
    options: first(
      option('analyze', 'EXPLAIN ANALYZE', (value) => value !== 'off' && value !== 'false'),
      option('format', 'a format of EXPLAIN', (value) => !['text', 'json'].includes(String(value).toLowerCase())),
    ),
  },
  CommonTableExpr: { search_clause: always('SEARCH'), cycle_clause: always('CYCLE') },
  MergeStmt: { returningClause: always('RETURNING of MERGE') },
  MergeWhenClause: {
    matchKind: unless('WHEN NOT MATCHED BY SOURCE', 'MERGE_WHEN_MATCHED', 'MERGE_WHEN_NOT_MATCHED_BY_TARGET'),
  },
  JoinExpr: { join_using_alias: always('an alias of USING') },
  ColumnDef: {
    collClause: (clause) => (isPlain(clause) ? undefined : 'a collation of a column'),
    typeName: (type) => (hasIntervalFields(type) ? 'the fields of an interval column' : undefined),
  },
  Constraint: {
    contype: (kind) => refusedConstraints[String(kind)],
    fk_del_set_cols: always('SET NULL and SET DEFAULT of some columns'),
    generated_kind: unless('a virtual generated column', 's', ''),
    without_overlaps: always('WITHOUT OVERLAPS'),
  },
};

const refusedConstraints: Readonly<Record<string, string>> = {
  CONSTR_EXCLUSION: 'EXCLUDE',
};

/** What they are used for is here: `gen_random_uuid`, `uuid_generate_v4`. Their other functions are refused where they are called. */
const extensions: ReadonlySet<string> = new Set(['plpgsql', 'pgcrypto', 'uuid-ossp']);

/** Text is ordered by code point; `binary` is what MySQL's front end writes. */
const plainCollations = new Set(['default', 'C', 'POSIX', 'ucs_basic', 'C.UTF-8', 'C.utf8', 'binary']);

/** @throws SqlError 0A000 for the first clause of the tree that would be ignored */
export function refuseIgnoredClauses(tree: Node): void {
  visit(tree, undefined);
}

function visit(value: unknown, kind: string | undefined): void {
  if (Array.isArray(value)) for (const each of value) visit(each, undefined);
  else if (typeof value === 'object' && value !== null) visitFields(value as Fields, kind);
}

function isKind(name: string): boolean {
  const code = name.charCodeAt(0);
  return code >= 65 && code <= 90;
}

/** A node of a list or a sum is `{ Kind: fields }`; where only one kind may stand its fields stand alone. */
function visitFields(fields: Fields, kind: string | undefined): void {
  const own = kind === undefined ? undefined : clauses[kind];
  for (const name of Object.keys(fields)) {
    // Most nodes of a large INSERT, and no clause.
    if (name === 'A_Const') continue;
    const value = fields[name];
    const clause = own?.[name]?.(value, fields);
    if (clause !== undefined) throw refusal(clause, fields);
    if (typeof value === 'object') visit(value, isKind(name) ? name : fieldKinds[name]);
  }
}

/** Fields whose nodes stand without their kind. */
const fieldKinds: Readonly<Record<string, string>> = {
  into: 'IntoClause',
  intoClause: 'IntoClause',
  over: 'WindowDef',
  larg: 'SelectStmt',
  rarg: 'SelectStmt',
};

function refusal(clause: string, { location }: Fields): SqlError {
  return notSupported(clause, typeof location === 'number' ? location + 1 : undefined);
}

interface Definition {
  readonly defname?: string;
  readonly arg?: Node;
}

function definitions(options: unknown): readonly Definition[] {
  const nodes = Array.isArray(options) ? (options as readonly Node[]) : [];
  return nodes.flatMap((node) => ('DefElem' in node ? [node.DefElem as Definition] : []));
}

function argument(node: Node | undefined): unknown {
  if (node === undefined) return undefined;
  if ('String' in node) return node.String.sval?.toLowerCase();
  if ('Integer' in node) return node.Integer.ival ?? 0;
  if ('Boolean' in node) return String(node.Boolean.boolval === true);
  if ('A_Const' in node) return node.A_Const.sval?.sval?.toLowerCase() ?? node.A_Const.ival?.ival ?? 0;
  return undefined;
}

function isPlain(clause: unknown): boolean {
  const { collname = [] } = clause as { readonly collname?: readonly Node[] };
  const last = collname.at(-1);
  return last !== undefined && 'String' in last && plainCollations.has(last.String.sval ?? '');
}

/** Without fields a precision comes after the bits of all of them. */
function hasIntervalFields(type: unknown): boolean {
  const { names = [], typmods = [] } = type as { readonly names?: readonly Node[]; readonly typmods?: readonly Node[] };
  const last = names.at(-1);
  const isInterval = last !== undefined && 'String' in last && last.String.sval === 'interval';
  return isInterval && typmods.length > 0 && argument(typmods[0]) !== everyIntervalField;
}
