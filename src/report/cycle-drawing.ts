/** The transactions of a violation as a picture: nodes, and edges that say why one comes before the other. Graphviz's DOT, and Mermaid. */

export interface CycleDrawing {
  /** Such as the file and the anomaly. */
  readonly title: string;
  /** Each with its lines: the ID first, then operations. */
  readonly nodes: readonly { readonly id: string; readonly lines: readonly string[] }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly relation: string;
    readonly key: string | null;
  }[];
}

/** One graph for each drawing, in one text. */
export function formatDot(drawings: readonly CycleDrawing[]): string {
  return drawings.map(dotGraph).join('\n');
}

function dotGraph({ title, nodes, edges }: CycleDrawing): string {
  const index = new Map(nodes.map(({ id }, i) => [id, `t${i}`]));
  const lines = nodes.map(({ lines: label }, i) => `  t${i} [label=${dotText(label.join('\n'))}];`);
  const arrows = edges.map(
    (edge) => `  ${index.get(edge.from)} -> ${index.get(edge.to)} [label=${dotText(labelOf(edge))}];`,
  );
  return [
    `digraph ${dotText(title)} {`,
    `  label=${dotText(title)};`,
    '  node [shape=box];',
    ...lines,
    ...arrows,
    '}\n',
  ].join('\n');
}

/** One flowchart for each drawing. */
export function formatMermaid(drawings: readonly CycleDrawing[]): string {
  return drawings.map(mermaidGraph).join('\n');
}

function mermaidGraph({ title, nodes, edges }: CycleDrawing): string {
  const index = new Map(nodes.map(({ id }, i) => [id, `t${i}`]));
  const lines = nodes.map(({ lines: label }, i) => `  t${i}["${label.map(mermaidText).join('<br/>')}"]`);
  const arrows = edges.map(
    (edge) => `  ${index.get(edge.from)} -->|"${mermaidText(labelOf(edge))}"| ${index.get(edge.to)}`,
  );
  // A front matter is YAML; a JSON text is one too.
  return ['---', `title: ${JSON.stringify(title)}`, '---', 'flowchart TD', ...lines, ...arrows, ''].join('\n');
}

function labelOf({ relation, key }: CycleDrawing['edges'][number]): string {
  return key === null ? relation : `${relation} ${key}`;
}

/** Line breaks are ends of lines that stand to the left. */
function dotText(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll('\n', String.raw`\l`)}${text.includes('\n') ? String.raw`\l` : ''}"`;
}

/** Mermaid takes entities, with `#` for `&`. */
export function mermaidText(text: string): string {
  return text.replaceAll(/[^\w .,:=+\-/()]/gu, (char) => `#${char.codePointAt(0)};`);
}
