/** Statements as a library sends them beside those that the source reader finds, in one form. */
import type { Application, Step, UnitStep, Value } from '../../src/analyze/application.ts';
import { parseStatement } from '../../src/sql/parse.ts';

export interface SentStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A program whose exported functions have the snippets as bodies. */
export function programOf(head: string, snippets: readonly string[]): string {
  return [head, ...snippets.map((snippet, index) => `export async function unit${index}() { ${snippet} }`)].join('\n');
}

/** Runs a snippet with these names. */
export function runSnippet(snippet: string, names: Readonly<Record<string, unknown>>): Promise<unknown> {
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...values: unknown[]) => Promise<unknown>;
  return new AsyncFunction(...Object.keys(names), snippet)(...Object.values(names));
}

/** By the name of the unit; what is not understood stands for its statement. */
export function statementsByUnit({
  units,
  notUnderstood,
}: Application): Readonly<Record<string, readonly SentStatement[]>> {
  const unreached = notUnderstood.map(({ reason }) => ({ sql: reason, parameters: [] }));
  const entries = units.map(({ name, steps }) => [name, statementsIn(steps)] as const);
  return Object.fromEntries(unreached.length === 0 ? entries : [...entries, ['unreached', unreached]]);
}

function statementsIn(steps: readonly (Step | UnitStep)[]): readonly SentStatement[] {
  return steps.flatMap((step): readonly SentStatement[] => {
    switch (step.kind) {
      case 'statement':
        return [{ sql: step.sql, parameters: step.parameters.map(constantOf) }];
      case 'not-understood':
        return [{ sql: step.reason, parameters: [] }];
      case 'transaction':
      case 'loop':
        return statementsIn(step.steps);
      case 'branch':
        return [...statementsIn(step.ifTrue), ...statementsIn(step.ifFalse)];
      default:
        return [];
    }
  });
}

function constantOf(value: Value): unknown {
  return value.kind === 'constant' ? value.value : value;
}

/**
 * The tree of PostgreSQL's parser with the parameters in their places: quotes, parentheses and the case of keywords do not count. A text that does not
 * parse stands for itself.
 */
export function treeOf({ sql, parameters }: SentStatement): string {
  return JSON.stringify(parsed(sql), (name, value: unknown) => {
    if (/(?:location|_start|_end)$/.test(name)) return undefined;
    const number = (value as { ParamRef?: { number?: number } } | null)?.ParamRef?.number;
    return number === undefined ? value : { parameter: parameters[number - 1] };
  });
}

function parsed(sql: string): unknown {
  try {
    return parseStatement(sql);
  } catch {
    return sql;
  }
}
