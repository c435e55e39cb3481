/** What a row object does with its associated rows: `getPosts()`, `countPosts()`, `createPost()`, and `$get('posts')` of sequelize-typescript. */
import type { Abstract, Fragment, ObjectValue } from '../abstract-value.ts';
import { column } from './entity.ts';
import { constantText } from './fragment.ts';
import { identifier } from './identifier.ts';
import { comparison } from './clauses.ts';
import { type Link, linkOf } from './sequelize-associations.ts';
import { type Association, associationsOf, entityOf, singularOf } from './sequelize-models.ts';
import type { SequelizeCall } from './sequelize-select.ts';

export interface AssociationMethod {
  readonly verb: string;
  /** `undefined`: the first argument names it. */
  readonly association: Association | undefined;
}

const verbs = /^(get|set|count|create|add|remove|has)(?=[A-Z])/;

/** The method that a name stands for; `undefined`: none of an association. */
export function associationMethod(key: object, name: string): AssociationMethod | undefined {
  const generic = /^\$(get|set|count|create|add|remove|has)$/.exec(name)?.[1];
  if (generic !== undefined) return { verb: generic, association: undefined };
  const verb = verbs.exec(name)?.[1];
  if (verb === undefined) return undefined;
  const association = associationCalled(key, name.slice(verb.length));
  return association === undefined ? undefined : { verb, association };
}

/** In the singular too: `createPost`, `$create('post')`. */
function associationCalled(key: object, name: string): Association | undefined {
  const rest = name.toLowerCase();
  return associationsOf(key).find(({ name: own }) => [own, singularOf(own)].some((one) => one.toLowerCase() === rest));
}

export interface AssociationCall {
  readonly call: SequelizeCall;
  readonly association: Association;
  /** Which rows are the object's. */
  readonly condition: Fragment;
  /** The field of the other row that has the object's key, and that key; `null` where another table has it, or the object. */
  readonly owned: readonly [string, Abstract] | null;
  readonly link: Link;
  readonly ownKey: Abstract;
}

/** A call of the other model, for the rows of `self`; text where it is not read. */
export function associationCall(
  call: SequelizeCall,
  self: ObjectValue,
  name: string,
  given: Association | undefined,
  first: Abstract | undefined,
): AssociationCall | string {
  const association = given ?? associationCalled(call.key, constantText(first) ?? '');
  const target = association?.target();
  const entity = target === undefined ? undefined : entityOf(target);
  const link = association === undefined ? undefined : linkOf(call.key, association);
  if (association === undefined || target === undefined || entity === undefined || link === undefined)
    return `\`${name}\` of Sequelize is not read: no file says which rows it is about`;
  const ownKey = call.machine.member(self, link.own, call.at);
  const other: SequelizeCall = { ...call, key: target, entity, scopes: [] };
  return {
    call: other,
    association,
    condition: conditionOf(other, link, ownKey),
    link,
    ownKey,
    owned: association.kind === 'own-key' || association.kind === 'through' ? null : [link.other, ownKey],
  };
}

function conditionOf({ entity, machine }: SequelizeCall, { other, through }: Link, ownKey: Abstract): Fragment {
  if (through === null) return comparison(column(entity, other), '=', ownKey);
  const [table, otherColumn, ownColumn] = [through.table, through.other, through.own].map((name) =>
    identifier(name, machine.dialect),
  );
  return [...column(entity, other), ` IN (SELECT ${otherColumn} FROM ${table} WHERE ${ownColumn} = `, ownKey, ')'];
}
