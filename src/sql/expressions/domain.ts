/** Values of a domain: PostgreSQL's domains.c, `domain_check_input`. */
import type { Node } from '@pgsql/types';
import { type Domain, notSupported, SqlError } from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import { coerceToBoolean } from './coerce.ts';
import { cellOf } from './compiler.ts';

/** A value of the domain's base type as the domain takes it. @throws SqlError 23502, 23514 when it is evaluated */
export function constrainedBy(
  domain: Domain,
  source: Expression,
  scope: Scope,
  compile: (node: Node, scope: Scope) => Expression,
): Expression {
  const { name, base, modifier, isNotNull } = domain;
  const cell = cellOf({ type: base });
  const own = valueScope(cell.expression, scope);
  const checks = domain.checks.map((check) => ({
    name: check.name,
    test: coerceToBoolean(compile(check.expression, own), 'CHECK', own).evaluate,
  }));
  const { isRowFree, isVolatile = false } = source;
  return {
    type: base,
    modifier,
    isRowFree,
    isVolatile,
    evaluate(frame) {
      const value = source.evaluate(frame);
      if (value === null && isNotNull) throw new SqlError('23502', `domain ${name} does not allow null values`);
      cell.value = value;
      for (const { name: check, test } of checks) {
        if (test(frame) !== false) continue;
        const message = `value for domain ${name} violates check constraint "${check}"`;
        throw new SqlError('23514', message, { constraint: check });
      }
      return value;
    },
  };
}

/** Its only name is VALUE. */
function valueScope(value: Expression, scope: Scope): Scope {
  const unknown = (names: readonly string[], position: number): SqlError =>
    new SqlError('42703', `column "${names.join('.')}" does not exist`, position > 0 ? { position } : {});
  return {
    dialect: scope.dialect,
    column(names, position) {
      if (names.length !== 1 || names[0] !== 'value') throw unknown(names, position);
      return value;
    },
    columnsOf(names, position) {
      throw unknown(names, position);
    },
    parameter() {
      throw notSupported('a parameter in a domain');
    },
    subquery() {
      throw new SqlError('0A000', 'cannot use subquery in check constraint');
    },
    aggregate: () => undefined,
    type: (typeName, position) => scope.type(typeName, position),
  };
}
