/** Joins of TypeORM's query builder: `leftJoinAndSelect('post.author', 'a', 'a.age > :age', { age })`. */
import type { Abstract, Fragment } from '../abstract-value.ts';
import type { Machine, Owner } from '../machine.ts';
import type { Clause } from './chain.ts';
import { optionsOf } from './clauses.ts';
import { column, type Entity } from './entity.ts';
import { constantText, notRead, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import type { Query } from './query.ts';
import { aliased, type JoinedRelation, joinFragments, type Relation, relationsOf } from './typeorm-relations.ts';
import { textCondition } from './typeorm-where.ts';

export interface Names {
  /** The entity of the statement, once it is known, and its alias. */
  readonly target: { entity: Entity | undefined; alias: string };
  /** By alias. */
  readonly joined: Map<string, Joined>;
  readonly entityFrom: (value: Abstract | undefined) => Entity | undefined;
  readonly machine: Machine;
  readonly owner: Owner;
}

interface Joined {
  readonly parent: string;
  readonly entity: Entity;
  /** Of which its rows are part of the result. */
  readonly relation: Relation | null;
}

/** All names that a condition may use. */
export function aliasesOf({ target, joined }: Names): ReadonlyMap<string, Entity> {
  const all = new Map([...joined].map(([alias, { entity }]) => [alias, entity]));
  return target.entity === undefined ? all : new Map([[target.alias, target.entity], ...all]);
}

export const joinClause =
  (how: 'LEFT JOIN' | 'INNER JOIN', isSelected: boolean): Clause<Names> =>
  ({ query, names, machine }, [path, given, text, parameters]) => {
    const alias = constantText(given);
    if (alias === undefined) return { ...query, notRead: notRead(`the name of a join is ${whyNotConstant(given)}`) };
    const [parent = '', property = ''] = (constantText(path) ?? '').split('.');
    const owner = aliasesOf(names).get(parent);
    const relation = owner === undefined ? undefined : relationsOf(machine, owner).get(property);
    const target = relation?.target ?? names.entityFrom(path);
    if (target === undefined || target === null)
      return { ...query, notRead: notRead(`the relation of a join is ${whyNotConstant(path)}`) };
    const entity = aliased(target, alias === names.target.entity?.table ? `${alias}_joined` : alias);
    names.joined.set(alias, { parent, entity, relation: isSelected ? (relation ?? null) : null });
    const condition = constantText(text);
    const test: Fragment =
      condition === undefined ? [] : textCondition(machine, aliasesOf(names), condition, optionsOf(parameters));
    const joins =
      relation === undefined || owner === undefined
        ? [plainJoin(machine, how, target, entity, test)]
        : joinFragments({ ...names, entity: owner }, relation, entity, how, test);
    const columns = isSelected ? columnsOf(machine, entity, alias) : [];
    return { ...query, joins: [...query.joins, ...joins], columns: [...query.columns, ...columns] };
  };

function plainJoin(machine: Machine, how: string, target: Entity, entity: Entity, test: Fragment): Fragment {
  const [table, alias] = [target.table, entity.table].map((text) => identifier(text, machine.dialect));
  return [`${how} ${table} AS ${alias} ON `, ...(test.length === 0 ? ['TRUE'] : test)];
}

export function columnsOf(machine: Machine, entity: Entity, alias: string): readonly Fragment[] {
  return [...entity.fields.keys()].map(
    (field): Fragment => [...column(entity, field), ` AS ${identifier(`${alias}_${field}`, machine.dialect)}`],
  );
}

/** The relations that the rows have with them. */
export function selectedRelations({ target, joined }: Names): readonly JoinedRelation[] {
  const of = (parent: string): readonly JoinedRelation[] =>
    [...joined].flatMap(([alias, { parent: owner, entity, relation }]) =>
      relation === null || owner !== parent ? [] : [{ relation, entity, prefix: alias, children: of(alias) }],
    );
  return of(target.alias);
}

/** `take` reads the rows of so many keys: where a row stands for one of several related ones, there is no such limit. */
export function withoutLimit(query: Query, joined: readonly JoinedRelation[]): Query {
  const isMany = (one: JoinedRelation): boolean => one.relation.isList || one.children.some(isMany);
  return joined.some(isMany) ? { ...query, limit: null, offset: null } : query;
}
