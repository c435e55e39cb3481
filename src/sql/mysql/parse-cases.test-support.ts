/** Reads the table of statements, parse-cases.txt. */
import { parseSync } from 'libpg-query';
import { treeText } from '../plan/tree.ts';

export interface ParseCase {
  readonly mysql: string;
  readonly expected: readonly string[];
  /** Does MariaDB know it too? */
  readonly isMariadb: boolean;
}

export function readParseCases(text: string): ParseCase[] {
  const cases: { mysql: string; expected: string[]; isMariadb: boolean }[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('    ')) cases.at(-1)?.expected.push(line.slice(4));
    else cases.push({ mysql: line.replace(/^\[MySQL\] /, ''), expected: [], isMariadb: !line.startsWith('[MySQL] ') });
  }
  return cases;
}

/** The tree of a line of the table, without locations: PostgreSQL's own parser reads it, and MySQL's parts take the place of their notes. */
export function notedTree(sql: string): unknown {
  return withOwnParts(withoutPlaces(at(parseSync(sql), 'stmts', 0, 'stmt')));
}

/** A copy without locations. */
export function withoutPlaces(tree: unknown): unknown {
  return JSON.parse(treeText(tree));
}

type Fields = Record<string, unknown>;

/** What stands there; `undefined`: nothing. */
function at(tree: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? (found as Fields)[key] : undefined),
    tree,
  );
}

function listAt(tree: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(tree, ...path);
  return Array.isArray(found) ? found : [];
}

const notes: Readonly<Record<string, (node: Fields) => Fields>> = {
  InsertStmt: withConflict,
  UpdateStmt: withChange,
  DeleteStmt: withChange,
  ColumnDef: withPlaceAndUpdate,
  FuncCall: withOwnCall,
  typeName: withOwnType,
};

function withOwnParts(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withOwnParts);
  if (typeof tree !== 'object' || tree === null) return tree;
  const entries = Object.entries(tree).map(([key, value]) => {
    const inner = withOwnParts(value);
    return [key, notes[key]?.(inner as Fields) ?? inner] as const;
  });
  return Object.fromEntries(entries);
}

/** `own_int_unsigned`. */
function withOwnType(type: Fields): Fields {
  const name = at(type, 'names', 0, 'String', 'sval');
  if (typeof name !== 'string' || !name.startsWith('own_')) return type;
  const own = name.slice('own_'.length).replaceAll('_', ' ');
  return { ...type, names: [{ String: { sval: own } }], own };
}

/** `own_if(a, b, c)`; `own_trim('both', what, x)`; `own_variable('name')`, `own_variable('name', 'global')`, `own_set_variable('name', x)`. */
function withOwnCall({ args, ...rest }: Fields): Fields {
  const name = at(rest, 'funcname', 0, 'String', 'sval');
  if (typeof name !== 'string' || !name.startsWith('own_')) return { ...rest, ...given({ args }) };
  const kind = name.slice('own_'.length).replaceAll('_', ' ');
  const [first, ...others] = listAt(args);
  const constant = at(first, 'A_Const', 'sval', 'sval');
  const funcname = [{ String: { sval: kind } }];
  if (kind === 'trim') return { ...rest, funcname, args: others, own: { kind, side: constant } };
  if (kind === 'variable') return { ...rest, funcname, own: { kind, name: constant, isGlobal: others.length > 0 } };
  if (!kind.endsWith('variable')) return { ...rest, funcname, args, own: { kind } };
  return {
    ...rest,
    funcname,
    ...given({ args: others.length > 0 ? others : undefined }),
    own: { kind, name: constant },
  };
}

/** `ON CONFLICT ON CONSTRAINT own_update DO UPDATE SET ...`, `ON CONFLICT ON CONSTRAINT own_ignore | own_replace DO NOTHING`. */
function withConflict({ onConflictClause: clause, ...rest }: Fields): Fields {
  if (clause === undefined) return rest;
  const kind = String(at(clause, 'infer', 'conname')).replace('own_', '');
  return { ...rest, onDuplicate: { kind, ...given({ targetList: at(clause, 'targetList') }) } };
}

/** `WITH own_visited AS (SELECT 1 FROM t ORDER BY ... LIMIT n)`; `UPDATE t AS own_target ... WHERE own_target.ctid = item.ctid AND ...`. */
function withChange({ withClause, whereClause, relation, ...rest }: Fields): Fields {
  const [query] = listAt(withClause, 'ctes');
  const isVisited = at(query, 'CommonTableExpr', 'ctename') === 'own_visited';
  const select = at(query, 'CommonTableExpr', 'ctequery', 'SelectStmt');
  const visited = { sortClause: listAt(select, 'sortClause'), ...given({ limitCount: at(select, 'limitCount') }) };
  const shared = { ...rest, ...(isVisited ? { visited } : given({ withClause })) };
  if (at(relation, 'alias', 'aliasname') !== 'own_target') return { ...shared, relation, ...given({ whereClause }) };
  const [identity, ...conditions] = listAt(whereClause, 'BoolExpr', 'args');
  const writtenItem = at(identity, 'A_Expr', 'rexpr', 'ColumnRef', 'fields', 0, 'String', 'sval');
  const { alias: _, ...table } = relation as Fields;
  const where = conditions.length > 1 ? { BoolExpr: { boolop: 'AND_EXPR', args: conditions } } : conditions[0];
  return { ...shared, relation: table, writtenItem, whereClause: where };
}

/** `CONSTRAINT own_on_update CHECK (value)`, `CONSTRAINT own_first CHECK (1)`, `CONSTRAINT own_after CHECK (column)`. */
function withPlaceAndUpdate({ constraints, ...rest }: Fields): Fields {
  const own: Fields = {};
  const others = listAt(constraints).filter((each) => {
    const value = at(each, 'Constraint', 'raw_expr');
    switch (at(each, 'Constraint', 'conname')) {
      case 'own_on_update':
        own['onUpdate'] = value;
        return false;
      case 'own_first':
        own['place'] = { kind: 'first' };
        return false;
      case 'own_after':
        own['place'] = { kind: 'after', column: at(value, 'ColumnRef', 'fields', 0, 'String', 'sval') };
        return false;
      default:
        return true;
    }
  });
  return { ...rest, ...own, ...(others.length === 0 ? {} : { constraints: others }) };
}

function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
