/** The printed form of an application: what a test compares and a person reads. */
import type { Application, NotUnderstood, Place, Step, Unit, UnitStep, Value } from './application.ts';

/** What is shown of an application. */
export interface FormatOptions {
  /** Adds `at file:line`. Without, two sources of the same application have the same form. */
  readonly places: boolean;
}

/**
 * One line a step, steps of a transaction, branch or loop indented. SQL is on one line, its spaces as in the text; its parameters come after it.
 * The schema is not part of it.
 */
export function formatApplication(application: Application, options: FormatOptions): string {
  const at = ({ file, line }: Place): string => (options.places ? ` at ${file}:${line}` : '');
  const lines = [
    ...application.notUnderstood.map((one) => notUnderstoodText(one, at)),
    ...application.units.flatMap((unit) => unitLines(unit, at)),
  ];
  return `${lines.join('\n')}\n`;
}

type At = (place: Place) => string;

function unitLines({ name, place, steps }: Unit, at: At): readonly string[] {
  return [`unit ${name}${at(place)}`, ...indented(steps, at)];
}

function indented(steps: readonly (Step | UnitStep)[], at: At): readonly string[] {
  return steps.flatMap((step) => stepLines(step, at)).map((line) => `  ${line}`);
}

function stepLines(step: Step | UnitStep, at: At): readonly string[] {
  switch (step.kind) {
    case 'transaction': {
      const level = step.level === null ? '' : ` (${step.level})`;
      return [`transaction ${step.name}${level}${at(step.place)}`, ...indented(step.steps, at)];
    }
    case 'statement': {
      const name = step.result === null ? '' : `${step.result} := `;
      const parameters = step.parameters.length === 0 ? '' : `  [${step.parameters.map(formatValue).join(', ')}]`;
      return [`${name}${onOneLine(step.sql)}${parameters}${at(step.place)}`];
    }
    case 'branch': {
      const otherwise = step.ifFalse.length === 0 ? [] : ['else', ...indented(step.ifFalse, at)];
      return [`if ${formatValue(step.condition)}`, ...indented(step.ifTrue, at), ...otherwise];
    }
    case 'loop':
      return [`for ${step.name} of ${formatValue(step.over)}`, ...indented(step.steps, at)];
    case 'abort':
    case 'return':
      return [step.kind];
    case 'savepoint':
      return [`savepoint ${step.name}`];
    case 'rollback-to-savepoint':
      return [`rollback to savepoint ${step.name}`];
    case 'not-understood':
      return [notUnderstoodText(step, at)];
  }
}

function notUnderstoodText({ reason, place }: NotUnderstood, at: At): string {
  return `not understood: ${reason}${at(place)}`;
}

/** `from`, `account.balance`, `lines[].id`, `count(lines)`, `item.id`, `'paid'`, `(account.balance - amount)`, `hash(password)`, `? the time`. */
export function formatValue(value: Value): string {
  switch (value.kind) {
    case 'argument':
      return value.name;
    case 'column':
      return `${value.statement}${value.row === 'all' ? '[]' : ''}.${value.column}`;
    case 'rows':
      return `${value.statement}[]`;
    case 'row-count':
      return `count(${value.statement})`;
    case 'element':
      return value.field === null ? value.loop : `${value.loop}.${value.field}`;
    case 'constant':
      return typeof value.value === 'string' ? `'${value.value.replaceAll("'", "''")}'` : String(value.value);
    case 'expression':
      return expressionText(value.operator, value.operands.map(formatValue));
    case 'unknown':
      return `? ${value.reason}`;
  }
}

function expressionText(operator: string, operands: readonly string[]): string {
  const [first, second, ...rest] = operands;
  if (first !== undefined && second !== undefined && rest.length === 0 && isInfix.test(operator)) {
    return `(${first} ${operator} ${second})`;
  }
  return `${operator}(${operands.join(', ')})`;
}

const isInfix = /^(?:[^\w\s]+|and|or)$/;

function onOneLine(sql: string): string {
  return sql.trim().replaceAll(/\s*\n\s*/g, ' ');
}
