/**
 * What `addPosts`, `setPosts` and `removePosts` of a row object send, and `$add('posts', ...)` of sequelize-typescript (Sequelize 6.37,
 * `lib/associations`): rows of the table between two models, or the key in the other rows.
 */
import type { Value } from '../../application.ts';
import { type Abstract, arrayOf, constant, type Fragment, plain, unknown } from '../abstract-value.ts';
import { expression, zero } from '../conditions.ts';
import { normalCompletion } from '../machine.ts';
import { constantOf, isNothing, valueOf } from '../value-arithmetic.ts';
import { rowCount } from './chain.ts';
import { inList } from './clauses.ts';
import {
  assigned,
  column,
  type Entity,
  insertQuery,
  loadedFrom,
  objectIn,
  runCall,
  shown,
  startQuery,
} from './entity.ts';
import { operand } from './fragment.ts';
import type { Link } from './sequelize-associations.ts';
import type { SequelizeCall } from './sequelize-select.ts';
import { withCondition } from './query.ts';

export interface Linking {
  /** A call of the other model. */
  readonly call: SequelizeCall;
  readonly link: Link;
  /** The own row's key. */
  readonly key: Abstract;
  /** The rows between the models; `null`: the other rows have the key. */
  readonly between: Entity | null;
}

export type LinkVerb = 'add' | 'set' | 'remove';

export function changeLinks(linking: Linking, verb: LinkVerb, given: Abstract | undefined): void {
  const targets = targetKeys(linking, given);
  if (linking.between === null) otherRows(linking, verb, targets);
  else rowsBetween(linking, linking.between, verb, targets);
}

/** The keys of rows: of row objects, or the values themselves; a list of which the elements are not known is one value. */
function targetKeys({ call, link }: Linking, given: Abstract | undefined): Abstract {
  if (given === undefined || isNothing(given)) return arrayOf([]);
  const isRow = (one: Abstract): boolean =>
    objectIn(one) !== undefined || loadedFrom(one) !== undefined || one.kind === 'row';
  const keyOf = (one: Abstract): Abstract => (isRow(one) ? call.machine.member(one, link.other, call.at) : one);
  if (given.kind === 'array') return arrayOf(given.elements.value.map(keyOf));
  if (given.kind === 'rows')
    return plain({ kind: 'column', statement: given.statement, column: link.other, row: 'all' });
  return isRow(given) || constantOf(given) !== undefined ? arrayOf([keyOf(given)]) : given;
}

/** A look at the rows that are there; then those that are gone are deleted, and those that are new inserted. */
function rowsBetween({ call, link, key }: Linking, between: Entity, verb: LinkVerb, targets: Abstract): void {
  const { machine } = call;
  const rows: SequelizeCall = { ...call, entity: between };
  const [ownName, otherName] = [link.through?.own ?? '', link.through?.other ?? ''];
  const own: Fragment = [...column(between, ownName), ' = ', ...operand(key)];
  const those: Fragment = [...own, ' AND ', ...inList(machine, column(between, otherName), targets, false)];
  const remove = (where: Fragment): Abstract => runCall(rows, withCondition(startQuery(rows, 'delete'), where));
  if (verb === 'remove') return void remove(those);
  const look = withCondition(startQuery(rows, 'select'), verb === 'set' ? own : those);
  const found = runCall(rows, { ...look, columns: [...between.fields.keys()].map((field) => shown(rows, field)) });
  if (verb === 'set')
    when(call, somethingFound(), () =>
      remove([...own, ' AND ', ...column(between, otherName), ' = ', unknown('a row that is gone')]),
    );
  const insert = (target: Abstract): Abstract =>
    runCall(
      rows,
      insertQuery(
        rows,
        [
          new Map([
            [ownName, key],
            [otherName, target],
          ]),
        ],
        [],
        [...between.fields.keys()],
      ),
    );
  const list = targets.kind === 'array' ? targets.elements.value : [unknown('a row that is new')];
  const isNew: Value =
    list.length === 1 && verb === 'add' && targets.kind === 'array'
      ? expression('=', valueOf(rowCount(found)), zero)
      : somethingFound();
  for (const target of list) when(call, isNew, () => insert(target));
}

/** Each is a condition of its own: what is deleted does not decide what is inserted. */
function somethingFound(): Value {
  return { kind: 'unknown', reason: 'which rows were found' };
}

function when({ machine }: SequelizeCall, condition: Value, run: () => Abstract): void {
  machine.fork(
    condition,
    () => (run(), normalCompletion),
    () => normalCompletion,
  );
}

/** The key stands in the other rows: it is set there, and of those that are no more, it is NULL. */
function otherRows({ call, link, key }: Linking, verb: LinkVerb, targets: Abstract): void {
  const { entity, machine } = call;
  const [primary = 'id'] = entity.keys;
  const own: Fragment = [...column(entity, link.other), ' = ', ...operand(key)];
  const those = inList(machine, column(entity, primary), targets, false);
  const write = (value: Abstract, where: Fragment): Abstract =>
    runCall(call, {
      ...withCondition(startQuery(call, 'update'), where),
      assignments: assigned(call, new Map([[link.other, operand(value)]])),
    });
  if (verb === 'remove') return void write(constant(null), [...own, ' AND ', ...those]);
  if (verb === 'set') {
    const look = withCondition(startQuery(call, 'select'), own);
    runCall(call, { ...look, columns: [...entity.fields.keys()].map((field) => shown(call, field)) });
    when(call, somethingFound(), () =>
      write(constant(null), [...column(entity, primary), ' = ', unknown('a row that is gone')]),
    );
  }
  if (targets.kind !== 'array' || targets.elements.value.length > 0) write(key, those);
}
