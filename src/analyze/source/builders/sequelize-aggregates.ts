/** `count`, `sum` and the like of a model of Sequelize. */
import { type Abstract, type Fragment, objectOf } from '../abstract-value.ts';
import { ofRows } from './chain.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { column, runCall } from './entity.ts';
import { constantText } from './fragment.ts';
import { on, select, type SequelizeCall } from './sequelize-select.ts';

type Run = (call: SequelizeCall, args: readonly Abstract[]) => Abstract;

function aggregate(sql: (call: SequelizeCall, field: string) => Fragment): Run {
  return (call, args) => {
    const [field, options] = args.length > 1 || constantText(args[0]) !== undefined ? args : [undefined, args[0]];
    const own = on(call, options);
    const counted = new Map([...optionsOf(options)].filter(([name]) => !/^(?:limit|offset|order)$/.test(name)));
    const isOpen = options !== undefined && options.kind !== 'undefined' && entriesOf(options) === null;
    const rows = runCall(own, {
      ...select(own, isOpen ? options : objectOf(Object.fromEntries(counted))),
      columns: [[...sql(own, constantText(field) ?? ''), ' AS value']],
    });
    return ofRows(rows, (statement) => ({
      kind: 'value',
      value: { kind: 'column', statement, column: 'value', row: 'first' },
    }));
  };
}

export const aggregates = {
  count: aggregate(() => ['count(*)']),
  sum: aggregate((call, field) => ['sum(', ...column(call.entity, field), ')']),
  max: aggregate((call, field) => ['max(', ...column(call.entity, field), ')']),
  min: aggregate((call, field) => ['min(', ...column(call.entity, field), ')']),
};
