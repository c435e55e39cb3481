/** CREATE DOMAIN. */
import type { Constraint, CreateDomainStmt, Node } from '@pgsql/types';
import { constrained, typeOfNode } from '../expressions/index.ts';
import { arrayOf, type Domain, notSupported, SqlError, type SqlType } from '../model/index.ts';
import type { Planning } from '../plan/planning.ts';
import { rootScope } from '../plan/root.ts';
import { stringsOf } from '../plan/tree.ts';
import type { Changes } from './changes.ts';
import { chooseName } from './names.ts';

/** @throws SqlError 42710, 42704, 42601, 42703, 42804 */
export function createDomain(statement: CreateDomainStmt, planning: Planning, changes: Changes): void {
  const { catalog } = planning;
  const names = stringsOf(statement.domainname);
  const name = names.at(-1) ?? '';
  const schema = planning.creationSchema(names.at(-2));
  if (catalog.type(schema, name) !== undefined || catalog.relation(schema, name) !== undefined)
    throw new SqlError('42710', `type "${name}" already exists`);
  if (statement.typeName === undefined || statement.collClause !== undefined) throw notSupported('this domain');
  const under = typeOfNode(statement.typeName, { type: (named, position) => planning.type(named, position) });
  const domain = domainOf({ schema, name }, under, constraintsOf(statement.constraints), planning);
  // The array type has the number after it.
  catalog.newId();
  refuseWrong(domain, planning);
  const type: SqlType = { ...domain.base, domain };
  changes.did(catalog.putType({ schema, name, type, arrayType: arrayOf(type) }));
}

/** @throws SqlError what is wrong with its conditions */
function refuseWrong(domain: Domain, planning: Planning): void {
  constrained({ type: domain.base, modifier: -1, isRowFree: true, evaluate: () => null }, domain, rootScope(planning));
}

function constraintsOf(nodes: readonly Node[] | undefined): Constraint[] {
  return (nodes ?? []).flatMap((node) => ('Constraint' in node ? [node.Constraint] : []));
}

function domainOf(
  place: Pick<Domain, 'schema' | 'name'>,
  { type, modifier }: { readonly type: SqlType; readonly modifier: number },
  constraints: readonly Constraint[],
  planning: Planning,
): Domain {
  const { domain: under } = type;
  const asked = (contype: Constraint['contype']): Constraint[] =>
    constraints.filter((each) => each.contype === contype);
  const [first, another] = asked('CONSTR_DEFAULT');
  if (another !== undefined) throw new SqlError('42601', 'multiple default expressions');
  const isNotNull = asked('CONSTR_NOTNULL').length > 0;
  if (isNotNull && asked('CONSTR_NULL').length > 0)
    throw new SqlError('42601', 'conflicting NULL/NOT NULL constraints');
  return {
    oid: planning.catalog.newId(),
    ...place,
    base: under?.base ?? type,
    modifier,
    isNotNull: isNotNull || under?.isNotNull === true,
    checks: [...(under?.checks ?? []), ...checksOf(place.name, asked('CONSTR_CHECK'))],
    default: first?.raw_expr ?? under?.default ?? null,
    over: under === undefined ? [] : [under.oid, ...under.over],
  };
}

/** Those of one domain are evaluated in the order of their names. */
function checksOf(domain: string, constraints: readonly Constraint[]): Domain['checks'] {
  const checks: Domain['checks'][number][] = [];
  for (const { conname, raw_expr: expression } of constraints) {
    const isTaken = (each: string): boolean => checks.some((check) => check.name === each);
    if (conname !== undefined && isTaken(conname))
      throw new SqlError('42710', `constraint "${conname}" for domain "${domain}" already exists`);
    if (expression === undefined) throw notSupported('a CHECK without a condition');
    checks.push({ name: conname ?? chooseName(domain, [], 'check', isTaken), expression });
  }
  return checks.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
