/** From a witness of the robustness algorithm to transactions that can run: arguments and rows that make its rows the same or different. */
import type { IsolationName, Table } from '../sql/index.ts';
import type { Amounts } from './amounts.ts';
import type { Value } from './application.ts';
import type { RowValue } from './column-values.ts';
import { guardsIn } from './optimistic-locks.ts';
import { DecidedSteps, type ParameterColumns } from './parameter-columns.ts';
import { statementsIn } from './paths.ts';
import type { Witness } from './robust-set.ts';
import type { Schema } from './schema.ts';
import { runDependentColumns } from './run-dependent-columns.ts';
import { addSearchedRows, shareCompared } from './searched-rows.ts';
import type { PathTemplate } from './templates.ts';
import type { AnalyzedTransaction } from './transactions.ts';
import { nodeOf, unifyRows, ValueClasses } from './value-classes.ts';
import { Instance, loopsIn } from './witness-instance.ts';
import type { WitnessDefinition, WitnessSession } from './witness-definition.ts';
import { stateOf, WitnessRows } from './witness-rows.ts';

/** The transactions that a witness numbers. */
export interface WitnessedSet {
  readonly transactions: readonly AnalyzedTransaction[];
  readonly levels: ReadonlyMap<AnalyzedTransaction, IsolationName>;
  readonly schema: Schema;
  /** Of the schema. */
  readonly columns: ParameterColumns;
  /** Of each session. */
  readonly scope: WitnessSession['scope'];
}

export function concreteWitness(
  { split, templates }: Witness,
  { transactions, levels, schema, columns, scope }: WitnessedSet,
  amounts: Amounts,
): WitnessDefinition {
  const paths = [split.first, ...split.between].map(({ template, variables }) => ({
    path: templates[template] as PathTemplate,
    variables,
  }));
  const classes = new ValueClasses();
  unify(paths, classes);
  const instances = paths.map(({ path }, instance) => new Instance(path, instance, classes, columns, amounts));
  if (amounts.areComparedEqual) shareCompared(instances, columns, classes);
  for (const instance of instances) instance.uniteColumnsOfKeys();
  unifyRows(
    instances.flatMap((instance) => instance.namedColumns()),
    classes,
  );
  for (const instance of instances) instance.computeValues();
  const rows = new WitnessRows(schema);
  for (const instance of instances) instance.addRows(rows);
  for (const instance of instances) instance.chooseColumns(rows, amounts.inColumns);
  for (const instance of instances) instance.computeArguments();
  for (const instance of instances) addSearchedRows(instance, rows, columns, amounts.foundRows);
  const inserted = instances.flatMap((instance) => instance.insertedKeys());
  const isInserted = (table: Table, values: ReadonlyMap<string, RowValue | null>): boolean =>
    inserted.some(
      (key) => key.table.id === table.id && [...key.values].every(([name, value]) => values.get(name) === value),
    );
  const decided = new DecidedSteps(columns, amounts.inArguments);
  const counts = new Map<string, number>();
  const sessions = instances.map(({ path }, instance) => {
    const transaction = transactions[path.transaction] as AnalyzedTransaction;
    const count = (counts.get(transaction.name) ?? 0) + 1;
    counts.set(transaction.name, count);
    return {
      name: `${transaction.name} ${count}`,
      scope,
      level: levels.get(transaction) as IsolationName,
      arguments: (instances[instance] as Instance).arguments(loopsIn(transaction.steps)),
      steps: decided.of(transaction.steps),
      guards: guardsIn(transaction.paths),
    };
  });
  const part = schema.parts.for(sessions.flatMap(({ steps }) => statementsIn(steps).map(({ sql }) => sql)));
  return {
    schema: [part.ddl, ...rows.statements(isInserted, amounts.inRows)],
    sessions,
    dialect: schema.dialect,
    ...stateOf(
      schema,
      part,
      runDependentColumns(
        schema,
        part,
        sessions.flatMap(({ steps }) => steps),
        columns,
      ),
    ),
    compared: scope === 'one transaction' ? 'state and reads' : 'state and writes',
  };
}

type NumberedPath = { readonly path: PathTemplate; readonly variables: ReadonlyMap<number, number> };

/** Variables of one row, by one key, have equal values. */
function unify(paths: readonly NumberedPath[], classes: ValueClasses): void {
  const seen = new Map<string, { readonly instance: number; readonly values: readonly Value[] }>();
  for (const [instance, { path, variables }] of paths.entries()) {
    for (const [variable, number] of variables) {
      const named = path.rows[variable];
      if (named === undefined || named.row.kind !== 'key') continue;
      const { values, index } = named.row;
      const key = `${named.table.id} ${index} ${number}`;
      const other = seen.get(key);
      if (other === undefined) seen.set(key, { instance, values });
      else
        for (const [at, value] of values.entries())
          classes.unite(nodeOf(instance, value), nodeOf(other.instance, other.values[at] as Value));
    }
  }
}
