/** A trace as a diagram: Mermaid's sequence diagram, and SVG that needs nothing else. */
import { xmlText } from '../base/index.ts';
import { titleOf } from './trace-text.ts';
import type { Trace, TraceMessage, TraceStep } from './trace.ts';

/** A trace as a sequence diagram of Mermaid, with a final line break. */
export function formatMermaid({ processes, steps }: Trace): string {
  const lines = steps.flatMap((step) => [
    ...step.received
      .filter(({ from }) => from !== step.process)
      .map(({ from, text }) => `  ${from}->>${step.process}: ${mermaidText(text)}`),
    `  Note over ${step.process}: ${mermaidText(titleOf(step))}`,
  ]);
  return ['sequenceDiagram', ...processes.map((name) => `  participant ${name}`), ...lines, ''].join('\n');
}

/** Mermaid ends a line at `;` and reads `#` as the start of an entity. */
function mermaidText(text: string): string {
  return text.replaceAll('#', '#35;').replaceAll(';', '#59;');
}

const laneWidth = 150;
const rowHeight = 26;
const margin = 20;
const headHeight = 44;
/** Of the 12 px font, on average. */
const glyphWidth = 6.5;

/** Time downwards; an arrow leaves its sender where the message was sent and arrives where it is received. */
export function formatSvg(trace: Trace): string {
  const { processes, steps, protocol } = trace;
  const x = (name: string): number => margin + 40 + processes.indexOf(name) * laneWidth;
  const y = (step: number): number => headHeight + margin + step * rowHeight;
  const label = (i: number): string => `${i + 1} ${steps[i]?.step}`;
  const labelEnds = steps.map((step, i) => x(step.process) + 8 + label(i).length * glyphWidth);
  const width = margin + Math.ceil(Math.max(margin + processes.length * laneWidth, ...labelEnds));
  const height = y(steps.length) + margin;
  const lanes = processes.map(
    (name) =>
      `<text class="name" x="${x(name)}" y="${headHeight - 12}">${xmlText(name)}</text>` +
      `<line class="lane" x1="${x(name)}" y1="${headHeight}" x2="${x(name)}" y2="${height - margin}"/>`,
  );
  const arrows = steps.flatMap((step, i) =>
    step.received
      .filter(({ from }) => from !== step.process)
      .map((message) => arrow(message, x(message.from), y(sentAt(steps, message, i)), x(step.process), y(i))),
  );
  const dots = steps.map(
    (step, i) =>
      `<circle cx="${x(step.process)}" cy="${y(i)}" r="4"/>` +
      `<text class="step" x="${x(step.process) + 8}" y="${y(i) + 4}">${xmlText(label(i))}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${xmlText(protocol)}</title>`,
    `<style>${css}</style>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...lanes,
    ...arrows,
    ...dots,
    '</svg>',
    '',
  ].join('\n');
}

const css =
  'text{font:12px sans-serif;fill:#222}.name{font-weight:bold;text-anchor:middle}.lane{stroke:#bbb}' +
  '.arrow{stroke:#36c;fill:none}.message{fill:#36c;text-anchor:middle;font-size:10px}circle{fill:#222}' +
  '.step,.message{paint-order:stroke;stroke:#fff;stroke-width:3px}';

/** The step that sent a message; `before`: none of the trace did. */
export function sentAt(steps: readonly TraceStep[], message: TraceMessage, before: number): number {
  const found = steps.findIndex(
    ({ process, sent }) => process === message.from && sent.some(({ text }) => text === message.text),
  );
  return found < 0 ? before : found;
}

function arrow({ text }: TraceMessage, x1: number, y1: number, x2: number, y2: number): string {
  const [midX, midY] = [(x1 + x2) / 2, (y1 + y2) / 2];
  return (
    `<line class="arrow" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" marker-end="url(#head)"/>` +
    `<text class="message" x="${midX}" y="${midY - 3}">${xmlText(text)}</text>`
  );
}
