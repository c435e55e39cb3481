/** A table with its title: levels, marks, versions of a row. */
import type { ReportTable } from '../src/report/index.ts';
import { shown } from './words.ts';

export function TableCard({ table }: { readonly table: ReportTable }) {
  const { title, head, rows, note } = table;
  return (
    <section class="card levels">
      <h2>{shown(title)}</h2>
      <div class="scrolls" tabIndex={0} role="region" aria-label={shown(title)}>
        <table>
          <thead>
            <tr>
              {head.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ cells, tone }, i) => (
              <tr key={i} class={tone ?? ''}>
                {cells.map((cell, c) =>
                  c === 0 ? (
                    <th key={c} scope="row">
                      {shown(cell)}
                    </th>
                  ) : (
                    <td key={c}>{shown(cell)}</td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {note !== null && <p>{shown(note, 1_000)}</p>}
    </section>
  );
}
