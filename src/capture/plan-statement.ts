/**
 * What a text of SQL is, as far as a recorder has to know: which rows its results and its conditions name. Parameters and results come later, in
 * `statement-rows.ts`.
 */
import type { DropStmt, Node, RangeVar } from '@pgsql/types';
import type { Dialect } from '../sql/model/index.ts';
import {
  nodesOf,
  parseStatement,
  parseMysql,
  sessionStatement,
  stringsOf,
  type SettingStatement,
  type TransactionStatement,
} from '../sql/index.ts';
import { otherStatement } from './other-statements.ts';
import { planSelect } from './plan-select.ts';
import { planDelete, planInsert, planUpdate } from './plan-write.ts';
import type { RecordedSchema } from './schema.ts';
import type { StatementPlan } from './statement-plan.ts';

/** Never throws: what cannot be parsed is opaque. */
export function planStatement(sql: string, schema: RecordedSchema): StatementPlan {
  try {
    const other = otherStatement(sql, schema.dialect);
    if (other !== undefined) return other;
    return planIn[schema.dialect](sql, schema);
  } catch {
    return guess(sql, schema);
  }
}

const planIn: Readonly<Record<Dialect, typeof planMysql>> = { postgres: planText, mysql: planMysql };

function planMysql(sql: string, schema: RecordedSchema): StatementPlan {
  const parsed = parseMysql(sql);
  switch (parsed.kind) {
    case 'tree':
      return planParsed(parsed.tree, schema);
    case 'effects':
      return withoutRows(planTree({ SelectStmt: parsed.query }, schema));
    case 'into':
      return intoVariables(planTree({ SelectStmt: parsed.query }, schema));
    case 'several':
      return { kind: 'ddl', tables: parsed.parts.flatMap((part) => definedTables(part, schema)) };
    case 'statement':
      break;
  }
  const { statement } = parsed;
  if (statement.kind === 'transaction' || statement.kind === 'setting') return planSession(statement);
  return statement.kind === 'ddl' ? { kind: 'ddl', tables: ['*'] } : { kind: 'neutral' };
}

/**
 * Tables that the DDL statement drops, makes or changes: by the names that rows have, or as it names those that are not there, for another
 * statement may have dropped them meanwhile. O(size of the tree)
 */
function definedTables(tree: object, schema: RecordedSchema): readonly string[] {
  if ('DropStmt' in tree) {
    const { removeType, objects = [] } = tree.DropStmt as DropStmt;
    if (removeType === 'OBJECT_SCHEMA') return ['*'];
    if (removeType !== 'OBJECT_TABLE') return [];
    return objects.flatMap((object) => {
      const [name, place] = stringsOf('List' in object ? object.List.items : []).toReversed();
      return name === undefined ? [] : (schema.table(place, name)?.name ?? name);
    });
  }
  const isOfRows = ['CreateStmt', 'CreateTableAsStmt', 'AlterTableStmt', 'RenameStmt', 'AlterObjectSchemaStmt'];
  if (!isOfRows.some((kind) => kind in tree)) return [];
  return relationsIn(tree).map(({ schemaname, relname }) => schema.table(schemaname, relname)?.name ?? relname);
}

/** Tables that a tree names: as nodes, and as the relation that a statement is about, which stands in the tree without a kind. */
function relationsIn(value: unknown): (RangeVar & { readonly relname: string })[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(relationsIn);
  return 'relname' in value ? [value as RangeVar & { readonly relname: string }, ...inside] : inside;
}

function planText(sql: string, schema: RecordedSchema): StatementPlan {
  const tree = parseStatement(sql);
  return tree === null ? { kind: 'neutral' } : planParsed(tree, schema);
}

function planParsed(tree: Node, schema: RecordedSchema): StatementPlan {
  const session = sessionStatement(tree);
  return session === undefined ? planTree(tree, schema) : planSession(session);
}

function planSession(statement: TransactionStatement | SettingStatement): StatementPlan {
  if (statement.kind === 'transaction')
    return statement.what === 'modes' ? { kind: 'neutral' } : { kind: 'transaction', statement };
  const settings = statement.what === 'set' ? [statement] : statement.what === 'set all' ? statement.settings : [];
  const found = settings.find(({ name }) => /^(?:session\.|local\.)?autocommit$/i.test(name));
  // USE and search_path change what the names of tables mean.
  if (settings.some(({ name }) => name.toLowerCase() === 'search_path')) return { kind: 'ddl' };
  return found === undefined
    ? { kind: 'neutral' }
    : { kind: 'autocommit', isOn: /^(?:1|on|true)$/i.test(found.value ?? '1') };
}

/** The client does not see the row. */
function intoVariables(plan: StatementPlan): StatementPlan {
  if (plan.kind !== 'select') return plan;
  return { kind: 'opaque', writes: false, lock: plan.lock === null ? null : 'share', why: 'SELECT ... INTO' };
}

/** SET @a = (SELECT ...), DO: the client does not see what was read. It is read under locks, as by every statement but SELECT. */
function withoutRows(plan: StatementPlan): StatementPlan {
  const isRead = plan.kind === 'select' || (plan.kind === 'opaque' && !plan.writes);
  return isRead ? { kind: 'opaque', writes: false, lock: 'share', why: 'SET' } : plan;
}

function planTree(tree: Node, schema: RecordedSchema): StatementPlan {
  const isOfRows = 'SelectStmt' in tree || 'InsertStmt' in tree || 'UpdateStmt' in tree || 'DeleteStmt' in tree;
  if (isOfRows && callsFunctions(tree, schema))
    return { kind: 'opaque', writes: true, why: 'a function of the database' };
  if ('SelectStmt' in tree) return planSelect(tree.SelectStmt, schema);
  if ('InsertStmt' in tree) return planInsert(tree.InsertStmt, schema);
  if ('UpdateStmt' in tree) return planUpdate(tree.UpdateStmt, schema);
  if ('DeleteStmt' in tree) return planDelete(tree.DeleteStmt, schema);
  if ('ExplainStmt' in tree || 'LockStmt' in tree || 'ClosePortalStmt' in tree) return { kind: 'neutral' };
  if ('DeclareCursorStmt' in tree || 'PrepareStmt' in tree) return { kind: 'neutral' };
  if ('FetchStmt' in tree) return { kind: 'opaque', writes: false, why: 'FETCH' };
  if ('TruncateStmt' in tree) return { kind: 'opaque', writes: true, why: 'TRUNCATE' };
  if ('MergeStmt' in tree) return { kind: 'opaque', writes: true, why: 'MERGE' };
  if ('CopyStmt' in tree) return { kind: 'opaque', writes: tree.CopyStmt.is_from === true, why: 'COPY' };
  if ('CallStmt' in tree || 'DoStmt' in tree || 'ExecuteStmt' in tree)
    return { kind: 'opaque', writes: true, why: Object.keys(tree)[0]?.replace(/Stmt$/, '').toUpperCase() ?? '' };
  return { kind: 'ddl', tables: definedTables(tree, schema) };
}

/** Does it call a function that users have made? */
function callsFunctions(tree: Node, { functions }: RecordedSchema): boolean {
  if (functions.size === 0) return false;
  return nodesOf(tree).some(
    (node) => 'FuncCall' in node && functions.has((stringsOf(node.FuncCall.funcname).at(-1) ?? '').toLowerCase()),
  );
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\w$]+/g) ?? [];
}

/** A text that our grammar does not have: by its first word. */
function guess(sql: string, { functions }: RecordedSchema): StatementPlan {
  const word = /^[\s(]*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? '';
  switch (word) {
    case 'SET':
    case 'SHOW':
    case 'KILL':
    case 'FLUSH':
    case 'ANALYZE':
      return { kind: 'neutral' };
    case 'RENAME':
    case 'ALTER':
    case 'DROP':
      return { kind: 'ddl', tables: ['*'] };
    case 'CREATE':
      return { kind: 'ddl', tables: /^\s*create\s+or\s+replace\s+table\b/i.test(sql) ? ['*'] : [] };
    case 'GRANT':
      return { kind: 'ddl' };
    default:
      return {
        kind: 'opaque',
        lock: /\b(?:for\s+(?:update|share)|lock\s+in\s+share\s+mode)\b/i.test(sql) ? 'share' : null,
        writes: word !== 'SELECT' || wordsOf(sql).some((each) => functions.has(each)),
        why: word === '' ? 'a text without a word' : word,
      };
  }
}
