/**
 * Functions that no unit runs and that would reach a statement: closures of a queue, methods of objects whose class the reader lost. The statement
 * itself may be a step of another unit, so that only the function shows what is missing.
 */
import type ts from 'typescript';
import type { NotUnderstood } from '../application.ts';
import type { Machine } from './machine.ts';
import { methodsByName } from './methods-by-name.ts';

type Api = typeof ts;

export interface RunFunctions {
  /** Functions that some unit ran. */
  readonly called: ReadonlySet<ts.Node>;
  /** Those with which units begin. */
  readonly entries: ReadonlySet<ts.Node>;
}

export interface Executed extends RunFunctions {
  /** Calls that gave steps of the units. */
  readonly reached: ReadonlySet<ts.Node>;
  /** Calls that run a statement, as they look. */
  readonly statements: readonly ts.Node[];
}

/**
 * One line for each; none where a line stands in it.
 * @param listed Places that have a line, as `file:line`
 */
export function unrunLines(
  machine: Machine,
  executed: Executed,
  listed: ReadonlySet<string>,
): readonly NotUnderstood[] {
  const { project } = machine;
  return [...unrunFunctions(machine, executed)].flatMap(([fn, found]): readonly NotUnderstood[] => {
    const { file, from, to } = project.lines(fn);
    for (let line = from; line <= to; line++) if (listed.has(`${file}:${line}`)) return [];
    const at = project.place(found);
    const reason = `no unit runs this function: it reaches ${at.file}:${at.line}`;
    return [{ kind: 'not-understood', place: project.place(fn), reason }];
  });
}

/** The outermost such functions, each with a statement that it leads to. */
export function unrunFunctions(machine: Machine, executed: Executed): ReadonlyMap<ts.Node, ts.Node> {
  const graph = references(machine);
  if ([...graph.keys()].every((fn) => executed.called.has(fn))) return new Map();
  const evidence = reaching(machine, graph, executed);
  const isUnrun = (fn: ts.Node): boolean => !executed.called.has(fn) && evidence.has(fn);
  return new Map(
    [...evidence].filter(([fn]) => isUnrun(fn) && !enclosing(machine.project.ts, fn).some((outer) => isUnrun(outer))),
  );
}

const graphs = new WeakMap<Machine['project'], ReadonlyMap<ts.Node, ReadonlySet<ts.Node>>>();

/** The functions of the sources with those that each names, its inner ones included. */
function references(machine: Machine): ReadonlyMap<ts.Node, ReadonlySet<ts.Node>> {
  const { ts, files } = machine.project;
  const known = graphs.get(machine.project);
  if (known !== undefined) return known;
  const graph = new Map<ts.Node, Set<ts.Node>>();
  const byMember = methodsByName(machine.project);
  const visit = (node: ts.Node, inside: readonly Set<ts.Node>[]): void => {
    let outer = inside;
    if (hasBody(ts, node)) {
      const own = new Set<ts.Node>();
      graph.set(node, own);
      outer = [...inside, own];
    } else if (ts.isIdentifier(node) && outer.length > 0) {
      for (const fn of named(machine, node, byMember)) for (const set of outer) set.add(fn);
    }
    if (!ts.isTypeNode(node)) ts.forEachChild(node, (child) => visit(child, outer));
  };
  for (const file of files) visit(file, []);
  graphs.set(machine.project, graph);
  return graph;
}

/** Each function that leads to a statement, with that statement. What a unit begins with is analyzed: those that only call it lead nowhere else. */
function reaching(
  machine: Machine,
  graph: ReadonlyMap<ts.Node, ReadonlySet<ts.Node>>,
  { entries, reached, statements }: Executed,
): ReadonlyMap<ts.Node, ts.Node> {
  const { ts } = machine.project;
  const evidence = new Map<ts.Node, ts.Node>();
  const add = (sites: Iterable<ts.Node>): void => {
    for (const at of sites) for (const fn of enclosing(ts, at)) if (!evidence.has(fn)) evidence.set(fn, at);
    for (let before = -1; before !== evidence.size; ) {
      before = evidence.size;
      for (const [fn, others] of graph) {
        const through = evidence.has(fn)
          ? undefined
          : [...others].find((other) => evidence.has(other) && !entries.has(other));
        const at = through === undefined ? undefined : evidence.get(through);
        if (at !== undefined) evidence.set(fn, at);
      }
    }
  };
  add(statements);
  add(reached);
  return evidence;
}

function named(
  machine: Machine,
  node: ts.Identifier,
  byMember: ReadonlyMap<string, readonly ts.Node[]>,
): readonly ts.Node[] {
  const { ts, checker } = machine.project;
  const found = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
  const isAlias = found !== undefined && (found.flags & ts.SymbolFlags.Alias) !== 0;
  const declarations = (isAlias ? checker.getAliasedSymbol(found) : found)?.declarations ?? [];
  if (declarations.length > 0) return declarations.flatMap((one) => functionsOf(ts, one));
  const isMember = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
  return isMember ? (byMember.get(node.text) ?? []) : [];
}

/** The functions that a declaration is, or holds: `const jobs = { sweep: () => ... }`. */
function functionsOf(api: Api, declaration: ts.Node): readonly ts.Node[] {
  if (hasBody(api, declaration)) return [declaration];
  if (!api.isVariableDeclaration(declaration) && !api.isPropertyAssignment(declaration)) return [];
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (hasBody(api, node)) found.push(node);
    else api.forEachChild(node, visit);
  };
  if (declaration.initializer !== undefined) visit(declaration.initializer);
  return found;
}

function enclosing(api: Api, node: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = [];
  for (let one = node.parent; one !== undefined && !api.isSourceFile(one); one = one.parent)
    if (hasBody(api, one)) found.push(one);
  return found;
}

function hasBody(api: Api, node: ts.Node): boolean {
  return api.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}
