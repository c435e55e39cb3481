/** Parts of the parser's trees, wherever they stand in a statement. */
import type { ColumnRef, JoinExpr, Node, ParamRef, RangeVar, SelectStmt } from '@pgsql/types';
import type { MysqlFuncCall } from '../sql/index.ts';

export interface Parts {
  /** The statement's own and those in it: subqueries, WITH, UNION's halves. */
  readonly selects: readonly SelectStmt[];
  readonly relations: readonly RangeVar[];
  readonly columns: readonly ColumnRef[];
  readonly functions: readonly MysqlFuncCall[];
  /** Their numbers. */
  readonly parameters: readonly number[];
  /** Kinds of all nodes. */
  readonly kinds: ReadonlySet<string>;
}

/** O(size of the tree) */
export function partsOf(tree: object): Parts {
  const selects: SelectStmt[] = [];
  const relations: RangeVar[] = [];
  const columns: ColumnRef[] = [];
  const functions: MysqlFuncCall[] = [];
  const parameters: number[] = [];
  const kinds = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const each of node) visit(each);
      return;
    }
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (/^[A-Z]/.test(name)) kinds.add(name);
      // UNION's halves are trees without their names.
      if (name === 'SelectStmt' || name === 'larg' || name === 'rarg') {
        const select = value as SelectStmt & Record<string, unknown>;
        if (name === 'SelectStmt' || 'op' in select) selects.push(select);
      }
      if (name === 'RangeVar' || name === 'relation') relations.push(value as RangeVar);
      if (name === 'ColumnRef') columns.push(value as ColumnRef);
      if (name === 'FuncCall') functions.push(value as MysqlFuncCall);
      if (name === 'ParamRef') parameters.push((value as ParamRef).number ?? 0);
      // FOR UPDATE OF names tables again.
      if (name !== 'lockedRels') visit(value);
    }
  };
  visit(tree);
  return { selects, relations, columns, functions, parameters, kinds };
}

/** A table in FROM with the conditions that hold of its rows: WHERE, and ON of the joins that leave its other rows out. */
export interface FromTable {
  readonly relation: RangeVar;
  readonly conditions: readonly Node[];
}

export function tablesInFrom(from: readonly Node[], where: Node | undefined): readonly FromTable[] {
  const found: FromTable[] = [];
  const visit = (node: Node | undefined, conditions: readonly Node[]): void => {
    if (node === undefined) return;
    if ('RangeVar' in node) found.push({ relation: node.RangeVar, conditions });
    if ('JoinExpr' in node) visitJoin(node.JoinExpr, conditions);
  };
  const visitJoin = ({ jointype, larg, rarg, quals }: JoinExpr, conditions: readonly Node[]): void => {
    const joined = [...conditions, ...conjuncts(quals)];
    const isInner = jointype === 'JOIN_INNER';
    // The other rows of an outer join's kept side stay, whatever ON and its own WHERE say.
    visit(larg, isInner ? joined : jointype === 'JOIN_LEFT' ? conditions : []);
    visit(rarg, isInner ? joined : jointype === 'JOIN_LEFT' ? conjuncts(quals) : []);
  };
  for (const node of from) visit(node, conjuncts(where));
  return found;
}

function conjuncts(node: Node | undefined): readonly Node[] {
  if (node === undefined) return [];
  if (!('BoolExpr' in node) || node.BoolExpr.boolop !== 'AND_EXPR') return [node];
  return (node.BoolExpr.args ?? []).flatMap(conjuncts);
}

/** The parts of a name, `*` as null. */
export function namesOf({ fields = [] }: ColumnRef): readonly (string | null)[] {
  return fields.map((field) => ('String' in field ? (field.String.sval ?? '') : null));
}

export function aliasOf({ alias, relname }: RangeVar): string {
  return alias?.aliasname ?? relname ?? '';
}
