/** An application written by hand: what a file for `moirai analyze` exports. Each function gives a piece of `Application` as plain data. */
import { firstUserFrame, InputError } from '../base/index.ts';
import type { IsolationName } from '../sql/index.ts';
import type {
  Abort,
  Application,
  Branch,
  Loop,
  Place,
  Statement,
  Step,
  Transaction,
  UnitStep,
  Value,
} from './application.ts';
import { withSeenCounts } from './seen-counts.ts';

/** An application as it is written: a schema, and units by name. */
export interface ApplicationDefinition {
  /** Default: postgres. */
  readonly dialect?: Application['dialect'];
  readonly schema: string;
  /** By name. */
  readonly units: Readonly<Record<string, readonly UnitStep[]>>;
}

/** A constant may stand for itself. */
export type Operand = Value | string | number | boolean | null;

/**
 * An application from its units.
 * @throws InputError `analyze/application` where `schema` is no text or `units` no object
 */
export function application({ dialect = 'postgres', schema, units }: ApplicationDefinition): Application {
  if (typeof schema !== 'string') throw shape('`schema` is not a text');
  if (typeof units !== 'object' || units === null) throw shape('`units` is not an object');
  const named = Object.entries(units).map(([name, steps]) => ({
    name,
    steps: withSeenCounts(steps, []),
    place: placeOf(steps),
  }));
  return { dialect, schema, units: named, notUnderstood: [] };
}

/**
 * Steps between BEGIN and COMMIT.
 * @param level of BEGIN; `null`: the database's default
 */
export function transaction(name: string, level: IsolationName | null, steps: readonly Step[]): Transaction {
  return {
    kind: 'transaction',
    name,
    level,
    place: steps.find(({ kind }) => kind === 'statement') === undefined ? here() : placeOf(steps),
    steps,
  };
}

/**
 * A SQL statement.
 * @param parameters in the order of their placeholders
 * @param result the name by which later values use its rows; `null` where none does
 */
export function statement(sql: string, parameters: readonly Operand[] = [], result: string | null = null): Statement {
  return { kind: 'statement', sql, parameters: parameters.map(valueOf), place: here(), result };
}

/** What is done where a condition on values holds, and where it does not. */
export function branch<True extends Step | UnitStep, False extends Step | UnitStep = True>(
  condition: Operand,
  ifTrue: readonly True[],
  ifFalse: readonly False[] = [],
): Branch<True | False> {
  return { kind: 'branch', condition: valueOf(condition), ifTrue, ifFalse };
}

/**
 * What is done for each element of a list.
 * @param name by which `element` names the element
 */
export function loop<Of extends Step | UnitStep>(name: string, over: Operand, steps: readonly Of[]): Loop<Of> {
  return { kind: 'loop', name, over: valueOf(over), steps };
}

/** The transaction rolls back and ends. */
export function abort(): Abort {
  return { kind: 'abort' };
}

/** What the unit is called with. */
export function argument(name: string): Value {
  return { kind: 'argument', name };
}

/** Of the first row of an earlier statement's result. */
export function column(result: string, name: string): Value {
  return { kind: 'column', statement: result, column: name, row: 'first' };
}

/** Of the element at which a loop is. */
export function element(name: string, field: string | null = null): Value {
  return { kind: 'element', loop: name, field };
}

/** `expression('+', a, b)`: SQL's operators; any other is a function of which nothing else is known. */
export function expression(operator: string, ...operands: readonly Operand[]): Value {
  return { kind: 'expression', operator, operands: operands.map(valueOf) };
}

function valueOf(operand: Operand): Value {
  return typeof operand === 'object' && operand !== null ? operand : { kind: 'constant', value: operand };
}

function placeOf(steps: readonly (Step | UnitStep)[]): Place {
  for (const step of steps) if (step.kind === 'statement' || step.kind === 'transaction') return step.place;
  return here();
}

function here(): Place {
  const { file = '', line = 0 } = firstUserFrame(new Error('place')) ?? {};
  return { file, line };
}

/** What a file exports that is one: by its shape, since sources of other kinds make the same. */
export function isApplication(value: unknown): value is Application {
  if (typeof value !== 'object' || value === null) return false;
  const { schema, units, dialect, notUnderstood } = value as Partial<Record<keyof Application, unknown>>;
  return (
    typeof schema === 'string' && typeof dialect === 'string' && Array.isArray(units) && Array.isArray(notUnderstood)
  );
}

function shape(message: string): InputError {
  return new InputError('analyze/application', message);
}
