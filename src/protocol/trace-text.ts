/** A trace as text: a list of steps, and the same drawn as messages between processes. */
import type { Trace, TraceStep } from './trace.ts';

/** One line a step. */
export function formatSteps({ steps }: Trace): string[] {
  const number = String(steps.length).length;
  const process = Math.max(0, ...steps.map((step) => step.process.length));
  const name = Math.max(0, ...steps.map((step) => titleOf(step).length));
  return steps.map((step, i) =>
    `${String(i + 1).padStart(number)}  ${step.process.padEnd(process)}  ${titleOf(step).padEnd(name)}  ${detailsOf(step)}`.trimEnd(),
  );
}

export function titleOf({ step, from, to }: TraceStep): string {
  const labels = from === to ? '' : ` -> ${to}`;
  return step === from ? `${step}${labels}` : `${from}: ${step}${labels}`;
}

function detailsOf({ received, sent, changes }: TraceStep): string {
  return [
    ...(received.length === 0 ? [] : [`receives ${received.map(({ text }) => text).join(', ')}`]),
    ...(sent.length === 0 ? [] : [`sends ${sent.map(({ text }) => text).join(', ')}`]),
    ...changes.map(({ variable, before, after }) => `${variable} ${before} -> ${after}`),
  ].join('; ');
}

/** A lane for each process, time downwards; an arrow where a process receives what another has sent. */
export function formatLanes({ processes, steps }: Trace): string[] {
  const texts = steps.flatMap(({ received, step }) => [step, ...received.map(({ text }) => text)]);
  const width = Math.min(28, Math.max(10, ...texts.map((text) => text.length + 5)));
  const lane = (name: string): number => processes.indexOf(name);
  const rows = [
    processes
      .map((name) => name.padEnd(width))
      .join('')
      .trimEnd(),
  ];
  for (const { process, step, received } of steps) {
    const own = lane(process);
    for (const { text, from } of received) {
      if (from !== process) rows.push(arrow(lane(from), own, text, processes.length, width));
    }
    const cells = processes.map((_, at) => (at === own ? `* ${step}`.slice(0, width - 1) : '|').padEnd(width));
    rows.push(cells.join('').trimEnd());
  }
  return rows;
}

function arrow(from: number, to: number, text: string, lanes: number, width: number): string {
  const row = Array.from({ length: lanes }, () => `|${' '.repeat(width - 1)}`).join('');
  const [left, right] = [Math.min(from, to) * width, Math.max(from, to) * width];
  const room = right - left - 1;
  const label = text.length > room - 3 ? `${text.slice(0, Math.max(0, room - 5))}..` : text;
  const dashes = '-'.repeat(Math.max(0, room - label.length - 1));
  const line = from < to ? `${label}${dashes}>`.padStart(room, '-') : `<${dashes}${label}`.padEnd(room, '-');
  return `${row.slice(0, left + 1)}${line}${row.slice(right)}`.trimEnd();
}
