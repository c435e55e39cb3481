/** DEFERRABLE and INITIALLY DEFERRED, beside a constraint of a table or, as clauses of their own, behind one of a column. */
import type { Constraint } from '@pgsql/types';
import type { Deferral } from '../catalog/relation.ts';
import { SqlError } from '../model/index.ts';

export function deferralOf({
  deferrable = false,
  initdeferred = false,
}: Pick<Constraint, 'deferrable' | 'initdeferred'>): Deferral {
  if (initdeferred) return 'initially deferred';
  return deferrable ? 'initially immediate' : 'never';
}

const titles: Readonly<Record<string, string>> = {
  CONSTR_ATTR_DEFERRABLE: 'DEFERRABLE',
  CONSTR_ATTR_NOT_DEFERRABLE: 'NOT DEFERRABLE',
  CONSTR_ATTR_DEFERRED: 'INITIALLY DEFERRED',
  CONSTR_ATTR_IMMEDIATE: 'INITIALLY IMMEDIATE',
};

interface Attributes {
  deferrable?: boolean;
  initdeferred?: boolean;
}

/** A column's constraints with the clauses that follow them. @throws SqlError 42601 */
export function withDeferral(constraints: readonly Constraint[]): Constraint[] {
  const result: Constraint[] = [];
  let attributes: Attributes = {};
  for (const constraint of constraints) {
    const title = titles[constraint.contype ?? ''];
    if (title === undefined) {
      attributes = {};
      result.push(constraint);
      continue;
    }
    const last = result.at(-1);
    if (last === undefined || !mayBeDeferred(last)) throw syntaxError(`misplaced ${title} clause`, constraint);
    attributes = withClause(attributes, constraint);
    result[result.length - 1] = { ...last, ...attributes };
  }
  return result;
}

function mayBeDeferred({ contype }: Constraint): boolean {
  return contype === 'CONSTR_PRIMARY' || contype === 'CONSTR_UNIQUE' || contype === 'CONSTR_FOREIGN';
}

function withClause({ deferrable, initdeferred }: Attributes, constraint: Constraint): Attributes {
  const isAboutDeferrable = constraint.contype?.endsWith('DEFERRABLE') === true;
  if (isAboutDeferrable && deferrable !== undefined)
    throw syntaxError('multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed', constraint);
  if (!isAboutDeferrable && initdeferred !== undefined)
    throw syntaxError('multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed', constraint);
  const next: Attributes = isAboutDeferrable
    ? {
        deferrable: constraint.contype === 'CONSTR_ATTR_DEFERRABLE',
        ...(initdeferred === undefined ? {} : { initdeferred }),
      }
    : {
        initdeferred: constraint.contype === 'CONSTR_ATTR_DEFERRED',
        ...(deferrable === undefined ? {} : { deferrable }),
      };
  if (next.initdeferred === true && next.deferrable === false)
    throw syntaxError('constraint declared INITIALLY DEFERRED must be DEFERRABLE', constraint);
  return next;
}

function syntaxError(message: string, { location }: Constraint): SqlError {
  return new SqlError('42601', message, location === undefined ? {} : { position: location + 1 });
}
