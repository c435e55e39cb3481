/** A builder's chain: an object whose methods each give the chain with one clause more, until one runs the statement. */
import type ts from 'typescript';
import {
  type Abstract,
  type Cell,
  type Choice,
  constant,
  native,
  type Native,
  never,
  unknown,
  type Fragment,
  endsOf,
} from '../abstract-value.ts';
import { normalCompletion, type Machine, type Owner } from '../machine.ts';
import { eachRow } from '../over-list.ts';
import { truthOf } from '../value-arithmetic.ts';
import { onEachPath } from './choices.ts';
import { flat, notRead } from './fragment.ts';
import { mergedQuery, queryOfPasses } from './merged-query.ts';
import { printQuery, type Query, withNotRead } from './query.ts';
import { isConstant, not } from '../conditions.ts';
import { ownEntry } from './own-entry.ts';

/** What the methods of a chain need beside their arguments. */
export interface Chain<Names> {
  readonly machine: Machine;
  readonly owner: Owner;
  /** How the builder writes names, and what it knows of tables. */
  readonly names: Names;
  readonly query: Query;
  /** The calls so far. */
  readonly calls: readonly ts.Node[];
}

export type Clause<Names> = (chain: Chain<Names>, args: readonly Abstract[], at: ts.Node) => Query;

/** A method that ends the chain, or leaves it: it runs the statement, or gives something else than a chain. */
export type Ending<Names> = (chain: Chain<Names>, args: readonly Abstract[], at: ts.Node) => Abstract;

export interface Builder<Names> {
  readonly title: string;
  readonly clauses: Readonly<Record<string, Clause<Names>>>;
  readonly endings: Readonly<Record<string, Ending<Names>>>;
  /** What is no method. */
  readonly properties?: Readonly<Record<string, (chain: Chain<Names>) => Abstract>>;
  /** What `await` gives, where it runs the statement. */
  readonly settle?: (chain: Chain<Names>, at: ts.Node) => Abstract;
  /** The builder changes itself: a later look at the same object sees the clause. */
  readonly isMutable: boolean;
}

export function chainOf<Names>(builder: Builder<Names>, chain: Chain<Names>): Native {
  const fixed = fixedChain(builder, chain);
  return builder.isMutable ? mutableChain(builder, chain.machine, fixed) : fixed;
}

/** The chain as it is at this moment, also of a builder that changes itself. */
export function fixedChain<Names>(builder: Builder<Names>, chain: Chain<Names>): Native {
  const { machine, query } = chain;
  const { title, settle } = builder;
  const fixed: Native = {
    kind: 'native',
    title,
    isHandle: true,
    isChain: true,
    forgotten: (before, reason) => {
      const known = queryOf(before);
      const passes = known === undefined ? undefined : queryOfPasses(machine, known, query);
      return fixedChain(builder, { ...chain, query: passes ?? withNotRead(query, reason) });
    },
    sql: () => {
      machine.reached.withoutStep(chain.calls);
      return ['(', ...printQuery(query, machine.dialect), query.alias === null ? ')' : `) AS ${query.alias}`];
    },
    ...(settle === undefined ? {} : { settle: (at) => settle(chain, at) }),
    member: (name) => ownEntry(builder.properties ?? {}, name)?.(chain) ?? methodOf(builder, chain, name),
  };
  const merged = (other: Query, calls: readonly ts.Node[]): Native =>
    fixedChain(builder, { ...chain, query: other, calls: [...new Set([...chain.calls, ...calls])] });
  made.set(fixed, { builder, owner: chain.owner, query: () => query, calls: chain.calls, merged });
  return fixed;
}

interface Made {
  readonly builder: unknown;
  readonly owner: Owner;
  readonly query: () => Query | undefined;
  readonly calls: readonly ts.Node[];
  /** The chain with another statement, and calls of another chain. */
  readonly merged: ((query: Query, calls: readonly ts.Node[]) => Native) | null;
}

const made = new WeakMap<Abstract, Made>();

/** The statement of a chain; `undefined` where it differs by path in more than its conditions. */
export function queryOf(chain: Abstract): Query | undefined {
  const one = mergedChain(chain);
  return made.get(one)?.query();
}

/** Each form is a statement of its own. */
const formsMax = 8;

/** Of a chain with many forms, one for each combination of conditions, those that differ in their conditions only are one. */
export function withFewForms(value: Choice): Abstract {
  return formsOf(value) > formsMax && isChain(value) ? mergedChain(value) : value;
}

/** Choices within choices share their sides. */
const forms = new WeakMap<Choice, number>();

function formsOf(value: Abstract): number {
  if (value.kind !== 'choice') return 1;
  const count = forms.get(value) ?? formsOf(value.ifTrue) + formsOf(value.ifFalse);
  forms.set(value, count);
  return count;
}

const mergedChains = new WeakMap<Choice, Abstract>();

/** One chain for those that differ by path in their conditions only. */
export function mergedChain(value: Abstract): Abstract {
  if (value.kind !== 'choice') return value;
  const known = mergedChains.get(value);
  if (known !== undefined) return known;
  const [ifTrue, ifFalse] = [mergedChain(value.ifTrue), mergedChain(value.ifFalse)];
  const [a, b] = [made.get(ifTrue), made.get(ifFalse)];
  const [queryA, queryB] = [a?.query(), b?.query()];
  const isOne = a !== undefined && b !== undefined && a.builder === b.builder && a.owner === b.owner;
  const query =
    isOne && queryA !== undefined && queryB !== undefined ? mergedQuery(value.condition, queryA, queryB) : undefined;
  const merged = (query === undefined ? undefined : a?.merged?.(query, b?.calls ?? [])) ?? {
    ...value,
    ifTrue,
    ifFalse,
  };
  mergedChains.set(value, merged);
  if (merged.kind === 'choice') mergedChains.set(merged, merged);
  return merged;
}

function methodOf<Names>(builder: Builder<Names>, chain: Chain<Names>, name: string): Native {
  const { machine, calls } = chain;
  const [clause, ending] = [ownEntry(builder.clauses, name), ownEntry(builder.endings, name)];
  return native(name, (given, at) =>
    onEachPath(machine, given, (args) => {
      const called = { ...chain, calls: [...calls, at] };
      if (ending !== undefined) return ending(called, args, at);
      const query =
        clause === undefined
          ? withNotRead(chain.query, `\`${name}\` of ${builder.title} is not read`)
          : clause(called, args, at);
      return fixedChain(builder, { ...called, query });
    }),
  );
}

function mutableChain<Names>(builder: Builder<Names>, machine: Machine, first: Native): Native {
  const cell: Cell = { value: first };
  const chain: Native = {
    kind: 'native',
    title: builder.title,
    isHandle: true,
    isChain: true,
    sql: () => {
      const merged = mergedChain(cell.value);
      return merged.kind === 'native' ? (merged.sql?.() ?? []) : notRead('a part of the statement differs by path');
    },
    ...(builder.settle === undefined ? {} : { settle: (at) => machine.settle(cell.value, at) }),
    member: (name, at) => {
      const method = machine.member(cell.value, name, at);
      if (ownEntry(builder.properties ?? {}, name) !== undefined) return method;
      return native(name, (args, callAt) => {
        const result = machine.call(method, args, callAt);
        if (!isChain(result)) return result;
        machine.memory.write(cell, result);
        // With an alias, no more clauses come: what takes it runs on each path.
        if (name === 'as' && result.kind === 'choice') return result;
        return name === 'clone' ? mutableChain(builder, machine, result as Native) : chain;
      });
    },
  };
  made.set(chain, { builder, owner: null, query: () => queryOf(cell.value), calls: [], merged: null });
  return chain;
}

export function isChain(value: Abstract): boolean {
  for (const end of endsOf(value)) if (end.kind !== 'native' || end.isChain !== true) return false;
  return true;
}

/** Runs the statement and gives its rows; what was not read is listed instead. */
export function runQuery({ machine, owner, query, calls }: Chain<unknown>, at: ts.Node): Abstract {
  const { each } = query;
  if (each !== null) {
    eachRow(
      machine,
      each.list,
      (row) => {
        const { insertColumns, rows, notRead: unread } = each.rowOf(row);
        const own: Query = { ...query, insertColumns, rows, each: null, notRead: [...query.notRead, ...unread] };
        runFragment(machine, owner, printQuery(own, machine.dialect), calls, at);
      },
      at,
    );
    return unknown('the rows that a list makes');
  }
  return runFragment(machine, owner, printQuery(query, machine.dialect), calls, at);
}

export function runFragment(
  machine: Machine,
  owner: Owner,
  fragment: Fragment,
  calls: readonly ts.Node[],
  at: ts.Node,
  rawCall?: string,
): Abstract {
  const { text, parameters, reasons } = flat(fragment, machine.dialect);
  const site = siteOf(calls) ?? at;
  const place = machine.place(site);
  machine.reached.step(place, calls);
  const [reason] = reasons;
  if (reason !== undefined) {
    machine.notUnderstood(site, reason);
    return unknown('a result of a statement that is not understood');
  }
  // Not the call: its first argument is no SQL text.
  const { ts: api } = machine.project;
  const statementAt = api.isCallExpression(site) ? site.expression : site;
  return machine.statement(owner, { text: constant(text), parameters, at: statementAt, rawCall });
}

/** The chain where it begins: a later line may add to it, and a helper may run it. */
function siteOf(calls: readonly ts.Node[]): ts.Node | undefined {
  const [first] = calls;
  return calls.findLast(
    (call) =>
      first !== undefined &&
      call.getSourceFile() === first.getSourceFile() &&
      call.pos <= first.pos &&
      first.end <= call.end,
  );
}

/** What `of` makes of the rows, on each path on which they were read. */
export function ofRows(rows: Abstract, of: (statement: string) => Abstract): Abstract {
  if (rows.kind === 'choice') return { ...rows, ifTrue: ofRows(rows.ifTrue, of), ifFalse: ofRows(rows.ifFalse, of) };
  return rows.kind === 'rows' ? of(rows.statement) : rows;
}

export function firstRow(rows: Abstract): Abstract {
  return ofRows(rows, (statement) => ({ kind: 'row', statement }));
}

/** The first row, where the library throws without one. */
export function requireRow(machine: Machine, row: Abstract): Abstract {
  const isThere = truthOf(row);
  let ended: Abstract = row;
  machine.fork(
    not(isThere),
    () => {
      const completion = machine.raise();
      if (isConstant(isThere, false)) ended = never;
      return completion;
    },
    () => normalCompletion,
  );
  return ended;
}

/** All values of one column, as a list. */
export function columnOf(rows: Abstract, column: string): Abstract {
  return ofRows(rows, (statement) => ({ kind: 'value', value: { kind: 'column', statement, column, row: 'all' } }));
}

export function rowCount(rows: Abstract): Abstract {
  return ofRows(rows, (statement) => ({ kind: 'value', value: { kind: 'row-count', statement } }));
}
