/** What the name of an anomaly means, in the words of an application: its transactions and rows. */
import { anomalies as named } from '../isolation/index.ts';
import { unitAnomalyName } from './anomaly.ts';

const meanings: Readonly<Record<string, string>> = {
  'lost-update': 'both read a row, then both write it: the second write undoes the first',
  'write-skew':
    'each reads rows that the other then changes: both checks pass, though one after the other only one would',
  'read-skew': 'one reads a row before the other changes several, and another row after it',
  'non-repeatable-read': 'one acts on a row that it has read, and the other changes the row in between',
  [unitAnomalyName]:
    'one writes because of what it read in an earlier transaction, and nothing keeps the other out in between',
};

export function meaningOf(name: string): string {
  const known = Object.entries(named).find(([id]) => id === name);
  return (
    meanings[name] ??
    known?.[1].meaning ??
    'together they have an effect that running them one after the other never has'
  );
}
