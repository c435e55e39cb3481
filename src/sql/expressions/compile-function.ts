/** Function calls: aggregates go to the planner, the rest is looked up in the dialect's tables. */
import type { FuncCall, Node, SQLValueFunction } from '@pgsql/types';
import {
  type Dialect,
  expressionRules,
  notSupported,
  SqlError,
  applyModifier,
  typeByName,
  types,
  type SqlType,
  type SqlValue,
  splitTimestamp,
} from '../model/index.ts';
import type { Expression, Frame, Scope } from '../expression.ts';
import { postgresHas } from '../known/server-names.ts';
import { aggregateNames } from './aggregates.ts';
import { callChosen, unknownFunction } from './call.ts';
import { canCast } from './cast-rules.ts';
import { namesOf, positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { coerce } from './coerce.ts';
import { isSetReturning, isWindowFunction } from './function-names.ts';
import { functionTable } from './functions.ts';
import type { MysqlFuncCall } from '../tree/mysql.ts';
import { callMysqlFunction } from './mysql-call.ts';
import { compileMysqlCall } from './mysql-forms.ts';
import { choose } from './signature.ts';

export function compileFunction(node: Node, call: MysqlFuncCall, compiler: Compiler): Expression {
  const { scope } = compiler;
  const slot = scope.aggregate(node);
  if (slot !== undefined) return slot;
  const name = (namesOf(call.funcname).at(-1) ?? '').toLowerCase();
  const position = positionOf(call.location);
  refuseMissing[scope.dialect](name, position);
  refuseAggregateSyntax(name, call, position);
  const operands = (call.args ?? []).map((each) => {
    if ('NamedArgExpr' in each) throw notSupported('a named argument', positionOf(each.NamedArgExpr.location));
    return compiler.compile(each);
  });
  if (call.own !== undefined) return compileMysqlCall(call.own, operands, scope);
  const own = ownFunction[scope.dialect](name, operands, scope, position);
  if (own !== undefined) return own;
  const choice = choose(
    functionTable.get(name) ?? [],
    operands.map(({ type }) => type),
  );
  if (typeof choice === 'object') return callChosen(choice, operands, scope);
  return castCall(name, operands, compiler) ?? refuse(name, operands, choice, scope, position);
}

/** What a dialect has beside the table, or instead of it. */
const ownFunction: Readonly<
  Record<Dialect, (...call: Parameters<typeof callMysqlFunction>) => Expression | undefined>
> = {
  postgres: () => undefined,
  mysql: (...call) => callMysqlFunction(...call),
};

function refuse(
  name: string,
  operands: readonly Expression[],
  choice: 'none' | 'ambiguous',
  scope: Scope,
  position: number,
): never {
  throw unknownFunction(name, operands, choice, scope, position);
}

/** A function that the server has and moirai has not, whatever its arguments: they may be forms that only this function takes. */
const refuseMissing: Readonly<Record<Dialect, (name: string, position: number) => void>> = {
  postgres: refuseMissingInPostgres,
  mysql: () => {},
};

function refuseMissingInPostgres(name: string, position: number): void {
  if (isWindowFunction(name))
    throw new SqlError('42809', `window function ${name} requires an OVER clause`, { position });
  if (isSetReturning(name)) throw notSupported(`${name} inside an expression`, position);
  if (functionTable.has(name) || aggregateNames.has(name) || typeByName(name) !== undefined) return;
  if (postgresHas.function(name) !== undefined) throw notSupported(`function ${name}`, position);
}

function refuseAggregateSyntax(name: string, call: FuncCall, position: number): void {
  if (call.func_variadic === true) throw notSupported('VARIADIC', position);
  const wrong =
    call.agg_distinct === true
      ? 'DISTINCT'
      : call.agg_order !== undefined
        ? 'ORDER BY'
        : call.agg_filter !== undefined
          ? 'FILTER'
          : call.over !== undefined
            ? 'OVER'
            : undefined;
  if (wrong === 'OVER')
    throw new SqlError('42809', `OVER specified, but ${name} is not a window function nor an aggregate function`, {
      position,
    });
  if (wrong !== undefined)
    throw new SqlError('42809', `${wrong} specified, but ${name} is not an aggregate function`, { position });
  if (call.agg_star === true)
    throw new SqlError('42809', `${name}(*) specified, but ${name} is not an aggregate function`, { position });
}

/** `int4('5')`, `text(42)`: a type's name with one argument is a cast where it costs nothing or goes through text. */
function castCall(name: string, operands: readonly Expression[], { scope }: Compiler): Expression | undefined {
  const [operand, ...others] = operands;
  const type = typeByName(name);
  if (operand === undefined || others.length > 0 || type === undefined) return undefined;
  if (!expressionRules[scope.dialect].typesAreFunctions) return undefined;
  return canCast(operand.type, type, 'explicit', scope.dialect)
    ? coerce(operand, type, -1, 'explicit', scope)
    : undefined;
}

const microsecondsType: Readonly<Record<string, SqlType>> = {
  SVFOP_CURRENT_TIMESTAMP: types.timestamptz,
  SVFOP_CURRENT_TIMESTAMP_N: types.timestamptz,
  SVFOP_LOCALTIMESTAMP: types.timestamp,
  SVFOP_LOCALTIMESTAMP_N: types.timestamp,
};

interface Clock {
  /** Whose start is `now`. */
  readonly of: 'statementTime' | 'transactionTime';
  readonly hasZone: boolean;
  /** @param digits below the second; -1: none are asked for */
  readonly rounded: (microseconds: bigint, type: SqlType, digits: number) => SqlValue;
}

const clocks: Readonly<Record<Dialect, Clock>> = {
  postgres: {
    of: 'transactionTime',
    hasZone: true,
    rounded: (microseconds, type, digits) => applyModifier(microseconds, type, digits, true),
  },
  mysql: { of: 'statementTime', hasZone: false, rounded: (microseconds, _type, digits) => cut(microseconds, digits) },
};

export function compileValueFunction(
  { op = 'SVFOP_CURRENT_DATE', typmod = -1, location }: SQLValueFunction,
  { scope }: Compiler,
): Expression {
  const ask = (type: SqlType, evaluate: (frame: Frame) => SqlValue): Expression => ({
    type,
    modifier: -1,
    isRowFree: true,
    evaluate,
  });
  const clock = clocks[scope.dialect];
  const now = ({ execution: { surroundings } }: Frame): bigint => surroundings[clock.of];
  const instant = microsecondsType[op];
  if (instant !== undefined) {
    const type = clock.hasZone ? instant : types.timestamp;
    return ask(type, (frame) => clock.rounded(now(frame), type, typmod));
  }
  switch (op) {
    case 'SVFOP_CURRENT_DATE':
      return ask(types.date, (frame) => splitTimestamp(now(frame)).days);
    case 'SVFOP_LOCALTIME':
    case 'SVFOP_LOCALTIME_N':
      return ask(types.time, (frame) => applyModifier(splitTimestamp(now(frame)).time, types.time, typmod, true));
    case 'SVFOP_CURRENT_TIME':
    case 'SVFOP_CURRENT_TIME_N':
      if (!clock.hasZone) return ask(types.time, (frame) => cut(splitTimestamp(now(frame)).time, 0));
      throw notSupported('type time with time zone', positionOf(location));
    case 'SVFOP_CURRENT_CATALOG':
      return ask(types.name, ({ execution }) => execution.surroundings.database);
    case 'SVFOP_CURRENT_SCHEMA':
      return ask(types.name, ({ execution }) => execution.surroundings.catalog.currentSchema());
    default:
      return ask(types.name, ({ execution }) => execution.surroundings.user);
  }
}

function cut(microseconds: bigint, digits: number): bigint {
  const unit = 10n ** BigInt(6 - Math.min(6, Math.max(0, digits)));
  return microseconds - (((microseconds % unit) + unit) % unit);
}
