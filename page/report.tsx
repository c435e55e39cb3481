/** The page: the verdict first, the failing runs below each other behind tabs, tables, notes. */
import { useState } from 'preact/hooks';
import type { ReportData, RunPicture } from '../src/report/index.ts';
import { RunView } from './run-view.tsx';
import { TableCard } from './table-card.tsx';
import { shown } from './words.ts';

const marks = { violated: '✕', satisfied: '✓', unknown: '?', described: 'i' } as const;

export function Report({ report }: { readonly report: ReportData }) {
  const { heading, database, verdict, runs, tables, notes } = report;
  const [at, choose] = useState(0);
  const run = runs[at];
  return (
    <>
      <header class={`verdict ${verdict.kind}`}>
        <p class="heading">
          <span class="brand">moirai</span>
          <code>{shown(heading)}</code>
          <span class="database">{shown(database)}</span>
        </p>
        <h1>
          <span class="mark" aria-hidden="true">
            {marks[verdict.kind]}
          </span>
          <span>{shown(verdict.text, 1_000)}</span>
        </h1>
        {notes.map((note) => (
          <p class="note" key={note}>
            {shown(note, 1_000)}
          </p>
        ))}
      </header>
      <main>
        {tables.map((table) => (
          <TableCard key={table.title} table={table} />
        ))}
        {runs.length > 1 && <Choice runs={runs} at={at} choose={choose} />}
        {run !== undefined && (
          <RunView key={at} run={run} isNamed={runs.length === 1 && verdict.text.endsWith(run.message)} />
        )}
      </main>
    </>
  );
}

interface ChoiceProps {
  readonly runs: readonly RunPicture[];
  readonly at: number;
  readonly choose: (run: number) => void;
}

/** Several counterexamples. */
function Choice({ runs, at, choose }: ChoiceProps) {
  return (
    <nav class="choice" aria-label="Failing runs">
      {runs.map(({ message, count }, i) => (
        <button key={i} type="button" aria-pressed={i === at} onClick={() => choose(i)}>
          <b>{i + 1}</b> {shown(message, 90)}
          {count !== null && <small> {count}</small>}
        </button>
      ))}
    </nav>
  );
}
