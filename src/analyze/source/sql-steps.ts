/** From a driver's call with SQL text to steps: statements, and what begins and ends transactions. */
import type ts from 'typescript';
import type { IsolationName } from '../../sql/index.ts';
import type { Dialect, Statement, Value } from '../application.ts';
import { type Abstract, never, undefinedValue, unknown } from './abstract-value.ts';
import type { Connection } from './emitter.ts';
import { levelIn, setNextLevel, takeNextLevel } from './level.ts';
import { oneLine } from './expressions.ts';
import { normalCompletion, type Machine, type Owner, type Sql } from './machine.ts';
import { statementSite } from './statement-site.ts';
import { choose, valueOf } from './value-arithmetic.ts';
import { same } from './conditions.ts';

/** Each doubles the statements. */
const conditionsMax = 6;

/** Runs a statement on a connection, or on any connection of a pool (`null`), and gives all its rows. */
export function runSql(machine: Machine, owner: Owner, sql: Sql, depth = 0): Abstract {
  const condition = conditionIn(sql);
  if (condition !== undefined && depth === conditionsMax) {
    machine.notUnderstood(sql.at, 'the SQL text depends on too many conditions');
    return unknown('a result of SQL that is not understood');
  }
  if (condition !== undefined) {
    let [a, b]: [Abstract, Abstract] = [never, never];
    machine.fork(
      condition,
      () => ((a = runSql(machine, owner, assume(sql, condition, true), depth + 1)), normalCompletion),
      () => ((b = runSql(machine, owner, assume(sql, condition, false), depth + 1)), normalCompletion),
    );
    return choose(condition, a, b);
  }
  const value = valueOf(sql.text);
  if (value.kind === 'constant' && typeof value.value === 'string') return runText(machine, owner, value.value, sql);
  const site = statementSite(machine, sql.at);
  machine.reached.step(machine.place(site), [sql.at]);
  machine.notUnderstood(site, reasonOf(value));
  return unknown('a result of SQL that is not understood');
}

function reasonOf(value: Value): string {
  if (value.kind === 'unknown')
    return value.reason === 'computed in a loop'
      ? 'the SQL text is built in a loop'
      : `the SQL text is not constant: ${value.reason}`;
  if (value.kind === 'argument') return `the SQL text is an argument: ${value.name}`;
  const hole = value.kind === 'expression' ? value.operands.find(({ kind }) => kind !== 'constant') : undefined;
  if (hole?.kind === 'unknown')
    return hole.reason === 'computed in a loop'
      ? 'the SQL text is built in a loop'
      : `a part of the SQL text is not constant: ${hole.reason}`;
  return hole?.kind === 'argument'
    ? `a part of the SQL text is an argument: ${hole.name}`
    : 'a part of the SQL text is computed';
}

function runText(machine: Machine, owner: Owner, text: string, sql: Sql): Abstract {
  const trimmed = text.trim().replace(/;\s*$/, '');
  const control = controlOf(trimmed);
  const calls = [sql.at, ...machine.frames.map(({ call }) => call)];
  if (control !== undefined) {
    machine.reached.withoutStep(calls);
    if (owner === null)
      machine.notUnderstood(sql.at, `${oneLine(trimmed)} on a pool: each statement may use another connection`);
    else runControl(machine, owner, control, sql.at);
    return undefinedValue;
  }
  if (machine.isCallerLost && owner?.begunIn !== undefined && owner.begunIn !== machine.emitter) {
    machine.notUnderstood(sql.at, 'it runs in a transaction that code begins which does not call it');
    return unknown('a result of SQL that is not understood');
  }
  const name = machine.emitter.name(tableOf(trimmed));
  const step = {
    kind: 'statement' as const,
    sql: trimmed,
    parameters: parametersOf(sql.parameters),
    place: machine.place(statementSite(machine, sql.at)),
    result: name,
    ...(sql.rawCall === undefined ? {} : { rawCall: sql.rawCall }),
  };
  machine.reached.step(step.place, calls);
  const { open } = machine.emitter;
  if (owner !== null && machine.emitter.isSuspended(owner))
    machine.notUnderstood(sql.at, 'it runs in a transaction that waits for a second one');
  else if (open !== null && open.connection !== owner) machine.emitter.pushOutside(step);
  else if (open !== null) {
    machine.emitter.push(step);
    open.results.add(name);
  } else pushAlone(machine, owner, step, sql.at);
  return { kind: 'rows', statement: name };
}

/** A statement outside a transaction. One that uses a table has the level that was set for the next transaction. */
function pushAlone(machine: Machine, owner: Owner, step: Statement, at: ts.Node): void {
  const { emitter } = machine;
  const level = owner === null || tableOf(step.sql) === noTable ? null : takeNextLevel(machine, owner, at);
  if (level === null || owner === null) return emitter.push(step);
  emitter.begin(owner, `line ${step.place.line}`, level, step.place);
  emitter.push(step);
  emitter.end('commit');
}

function parametersOf(parameters: Sql['parameters']): readonly Value[] {
  if (!('kind' in parameters)) return parameters.map(valueOf);
  if (parameters.kind === 'array') return parameters.elements.value.map(valueOf);
  if (parameters.kind === 'undefined') return [];
  return parameters.kind === 'object'
    ? [...parameters.properties.values()].map((cell) => valueOf(cell.value))
    : [valueOf(parameters)];
}

/** Results have the name of the first table, so that equal statements of different drivers have equal results. */
function tableOf(text: string): string {
  const [, name] = /\b(?:from|into|update)\s+(?:only\s+)?([\w."`]+)/i.exec(text) ?? [];
  return name?.split('.').at(-1)?.replaceAll(/["`]/g, '') ?? noTable;
}

const noTable = 'result';

type Control =
  | { readonly kind: 'begin'; readonly level: IsolationName | null }
  | { readonly kind: 'level'; readonly level: IsolationName | null }
  | { readonly kind: 'commit' | 'rollback' | 'release' }
  | { readonly kind: 'chain'; readonly end: 'commit' | 'rollback' }
  | { readonly kind: 'savepoint' | 'rollback-to'; readonly name: string };

function controlOf(text: string): Control | undefined {
  if (/^(?:begin|start\s+transaction)\b/i.test(text)) return { kind: 'begin', level: levelIn(text) };
  if (/^set\s+(?:local\s+)?transaction\b/i.test(text)) return { kind: 'level', level: levelIn(text) };
  const [, ended] = /^(commit|end|rollback|abort)\b.*\band\s+chain\b/is.exec(text) ?? [];
  if (ended !== undefined) return { kind: 'chain', end: /^(?:commit|end)$/i.test(ended) ? 'commit' : 'rollback' };
  if (/^(?:commit|end)\b/i.test(text)) return { kind: 'commit' };
  const [, target] = /^rollback\s+(?:work\s+|transaction\s+)?to\s+(?:savepoint\s+)?["`]?(\w+)/i.exec(text) ?? [];
  if (target !== undefined) return { kind: 'rollback-to', name: target };
  if (/^(?:rollback|abort)\b/i.test(text)) return { kind: 'rollback' };
  const [, name] = /^savepoint\s+["`]?(\w+)/i.exec(text) ?? [];
  if (name !== undefined) return { kind: 'savepoint', name };
  return /^release\b/i.test(text) ? { kind: 'release' } : undefined;
}

type SetTransaction = (machine: Machine, connection: Connection, level: IsolationName | null, at: ts.Node) => void;

const setTransaction: Readonly<Record<Dialect, SetTransaction>> = {
  postgres: setOpenTransaction,
  mysql: setNextTransaction,
};

/** PostgreSQL 15 manual, SET TRANSACTION: before the first query, and without effect outside a transaction. */
function setOpenTransaction(machine: Machine, connection: Connection, level: IsolationName | null, at: ts.Node): void {
  const { open, list } = machine.emitter;
  if (open?.connection !== connection || level === null || level === open.step.level) return;
  if (list === open.steps && open.steps.length === 0) open.step.level = level;
  else
    machine.notUnderstood(
      at,
      'SET TRANSACTION ISOLATION LEVEL on a condition, or after the first statement, where PostgreSQL refuses it (25001)',
    );
}

function setNextTransaction(machine: Machine, connection: Connection, level: IsolationName | null, at: ts.Node): void {
  if (machine.emitter.open?.connection === connection)
    machine.notUnderstood(at, 'SET TRANSACTION in a transaction, which MySQL refuses (1568)');
  else if (level !== null) setNextLevel(machine, connection, level);
}

function runControl(machine: Machine, connection: Connection, control: Control, at: ts.Node): void {
  const { emitter } = machine;
  switch (control.kind) {
    case 'begin':
      return machine.begin(connection, control.level, at);
    case 'level':
      return setTransaction[machine.dialect](machine, connection, control.level, at);
    case 'commit':
    case 'rollback':
      if (emitter.open?.connection !== connection) takeNextLevel(machine, connection, at);
      return control.kind === 'commit' ? machine.commit(connection, at) : machine.rollback(connection);
    case 'chain': {
      // Another transaction of the same level begins.
      const level = emitter.open?.connection === connection ? emitter.open.step.level : null;
      runControl(machine, connection, { kind: control.end }, at);
      return machine.begin(connection, level, at);
    }
    case 'savepoint':
      return machine.savepoint(connection, control.name, at);
    case 'rollback-to':
      if (emitter.open !== null) emitter.push({ kind: 'rollback-to-savepoint', name: control.name });
      return;
    case 'release':
      return;
  }
}

/** What the text or the list of parameters depends on, where it depends on a path. */
function conditionIn({ text, parameters }: Sql): Value | undefined {
  if (!('kind' in parameters) && parameters.length === 0) return choiceIn(text);
  return choiceIn(text) ?? ('kind' in parameters ? choiceInList(parameters) : undefined);
}

function choiceInList(list: Abstract): Value | undefined {
  if (list.kind === 'choice') return list.condition;
  if (list.kind !== 'array') return undefined;
  const spread = list.elements.value.find((element) => element.kind === 'choice' && element.isSpread === true);
  return spread?.kind === 'choice' ? spread.condition : undefined;
}

function choiceIn(text: Abstract): Value | undefined {
  if (text.kind === 'choice') return text.condition;
  return text.kind === 'value' ? choiceInValue(text.value) : undefined;
}

function choiceInValue(value: Value): Value | undefined {
  if (value.kind !== 'expression') return undefined;
  if (value.operator === 'if') return value.operands[0];
  if (value.operator !== '||') return undefined;
  for (const operand of value.operands) {
    const condition = choiceInValue(operand);
    if (condition !== undefined) return condition;
  }
  return undefined;
}

/** The SQL where the condition is known. */
function assume(sql: Sql, condition: Value, holds: boolean): Sql {
  const { parameters } = sql;
  const known = 'kind' in parameters ? assumeAbstract(parameters, condition, holds) : parameters;
  return { ...sql, text: assumeAbstract(sql.text, condition, holds), parameters: known };
}

function assumeAbstract(abstract: Abstract, condition: Value, holds: boolean): Abstract {
  if (abstract.kind === 'choice') {
    if (abstract.condition === condition || same(abstract.condition, condition))
      return assumeAbstract(holds ? abstract.ifTrue : abstract.ifFalse, condition, holds);
    return {
      ...abstract,
      ifTrue: assumeAbstract(abstract.ifTrue, condition, holds),
      ifFalse: assumeAbstract(abstract.ifFalse, condition, holds),
    };
  }
  if (abstract.kind === 'array') {
    const elements = abstract.elements.value.flatMap((element): readonly Abstract[] => {
      const known = assumeAbstract(element, condition, holds);
      const isSpread = element.kind === 'choice' && element.isSpread === true;
      return isSpread && known.kind === 'array' ? known.elements.value : [known];
    });
    return { kind: 'array', elements: { value: elements } };
  }
  return abstract.kind === 'value' ? { kind: 'value', value: assumeValue(abstract.value, condition, holds) } : abstract;
}

function assumeValue(value: Value, condition: Value, holds: boolean): Value {
  if (value.kind !== 'expression') return value;
  if (value.operator === 'if') {
    const [given, ifTrue, ifFalse] = value.operands as [Value, Value, Value];
    if (given === condition || same(given, condition)) return assumeValue(holds ? ifTrue : ifFalse, condition, holds);
  }
  const operands = value.operands.map((operand) => assumeValue(operand, condition, holds));
  if (value.operator === '||' && operands.every(({ kind }) => kind === 'constant')) {
    return {
      kind: 'constant',
      value: operands.map((operand) => String((operand as { value: unknown }).value)).join(''),
    };
  }
  return { ...value, operands };
}
