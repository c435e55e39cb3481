/** PREPARE, EXECUTE and DEALLOCATE: the tree of one of them. The statements themselves are the session's. PostgreSQL manual, "PREPARE". */
import type { ExecuteStmt, Node, PrepareStmt } from '@pgsql/types';
import { assert } from '../base/index.ts';
import { notSupported, SqlError, type SqlType, types, type SqlValue } from './model/index.ts';
import { coerce, compileExpression, typeOfNode } from './expressions/index.ts';
import { noAggregates } from './plan/grouping.ts';
import type { Planning } from './plan/planning.ts';
import { rootScope } from './plan/root.ts';
import { someNode } from './plan/tree.ts';
import type { NamedStatement, Statement } from './statement.ts';
import type { Execution } from './execution.ts';

/** Plans what stands inside PREPARE, with the types that it gives its parameters. */
export type PlanInner = (query: Node, parameterTypes: readonly (SqlType | undefined)[]) => Statement;

/** `undefined`: something else. */
export function namedStatement(
  node: Node,
  newPlanning: () => Planning,
  planInner: PlanInner,
): NamedStatement | undefined {
  if ('PrepareStmt' in node) return prepareOf(node.PrepareStmt, newPlanning(), planInner);
  if ('ExecuteStmt' in node) return executeOf(node.ExecuteStmt, newPlanning);
  if ('DeallocateStmt' in node) {
    const { name = null } = node.DeallocateStmt;
    return { kind: 'named', command: name === null ? 'DEALLOCATE ALL' : 'DEALLOCATE', what: 'deallocate', name };
  }
  return undefined;
}

function prepareOf(
  { name = '', argtypes, query }: PrepareStmt,
  planning: Planning,
  planInner: PlanInner,
): NamedStatement {
  assert(query !== undefined, 'PREPARE has a statement');
  const scope = rootScope(planning);
  const given = (argtypes ?? []).map((node) => {
    assert('TypeName' in node, 'a parameter has a type');
    const { type } = typeOfNode(node.TypeName, scope);
    return type.name === 'unknown' ? undefined : type;
  });
  return { kind: 'named', command: 'PREPARE', what: 'prepare', name, inner: planInner(query, given) };
}

function executeOf({ name = '', params = [] }: ExecuteStmt, newPlanning: () => Planning): NamedStatement {
  if (someNode(params, (node) => 'SubLink' in node))
    throw new SqlError('0A000', 'cannot use subquery in EXECUTE parameter');
  if (someNode(params, (node) => 'ParamRef' in node)) throw notSupported('a parameter in EXECUTE parameters');
  return {
    kind: 'named',
    command: 'EXECUTE',
    what: 'execute',
    name,
    values: (wanted, execution) => valuesOf(name, params, wanted, execution, newPlanning()),
  };
}

/** @throws SqlError 42601 another number of them, 42804 of another type */
function valuesOf(
  name: string,
  params: readonly Node[],
  wanted: readonly SqlType[],
  execution: Execution,
  planning: Planning,
): SqlValue[] {
  if (params.length !== wanted.length)
    throw new SqlError('42601', `wrong number of parameters for prepared statement "${name}"`, {
      detail: `Expected ${wanted.length} parameters but got ${params.length}.`,
      mysqlNumber: 1210,
    });
  const scope = rootScope(planning);
  scope.clause = 'EXECUTE parameters';
  scope.collector = noAggregates(scope);
  return params.map((node, i) => {
    const value = compileExpression(node, scope);
    const parameter = coerce(value, wanted[i] ?? types.text, -1, 'assignment', scope);
    return parameter.evaluate({ rows: [], computed: [], execution, outer: null });
  });
}
