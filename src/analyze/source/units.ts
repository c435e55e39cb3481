/**
 * Which functions of the sources are units, and their steps. First every file runs from the top: it registers routes and jobs. Then the registered
 * functions run, then exported functions and methods that no unit calls.
 */
import { InputError } from '../../base/index.ts';
import type ts from 'typescript';
import { listed } from '../listed-names.ts';
import type { Application, Dialect, Unit, UnitEntry, UnitStep } from '../application.ts';
import {
  type Abstract,
  type ClassValue,
  type FunctionNode,
  type FunctionValue,
  plain,
  Scope,
} from './abstract-value.ts';
import { injectedInstance, isRowClass } from './calls.ts';
import { inImportOrder } from './import-order.ts';
import { interpreter } from './interpreter.ts';
import { type Completion, type FoundUnit, type Machine, normalCompletion } from './machine.ts';
import { isTrue } from './conditions.ts';
import { allAttached } from './attached.ts';
import { truthOf, valueOf } from './value-arithmetic.ts';
import { guardsOf } from './guards.ts';
import { runHandlers } from './handlers.ts';
import { middlewareBefore } from './middleware.ts';
import { request } from './request-name.ts';
import type { EntryPoint } from './entry-point.ts';
import type { Project } from './project.ts';
import type { TableColumns } from './table-columns.ts';
import { does, tidySteps } from './tidy-steps.ts';
import { nameOf } from './transactions.ts';
import { entryOf, entryOfFile } from './unit-entry.ts';
import { unreached, statementsOf, unrunBy } from './unreached.ts';
import { withinLimits } from './within-limits.ts';
import { withoutCaller } from './without-caller.ts';

export interface UnitOptions {
  readonly dialect: Dialect;
  readonly tables: TableColumns;
  readonly entryPoints: readonly EntryPoint[];
  /** Expressions that one unit may evaluate. */
  readonly stepsMax: number;
}

interface Read {
  readonly unit: Unit;
  readonly entries: readonly FunctionNode[];
  readonly called: ReadonlySet<FunctionNode>;
  /** Dropped where another unit calls it. */
  readonly isGuess: boolean;
  readonly isCallerLost: boolean;
}

export function readUnits(
  project: Project,
  { dialect, tables, entryPoints, stepsMax }: UnitOptions,
): Pick<Application, 'units' | 'notUnderstood' | 'assumed' | 'leftOut'> {
  const waiting: FoundUnit[] = [];
  const seen = new Set<ts.Node>();
  const called = new Set<ts.Node>();
  const machine = interpreter({
    project,
    dialect,
    tables,
    stepsMax,
    found: (unit) => {
      const key = unit.kind === 'route' || isMade(unit) ? unit.node : (unit.functions[0]?.node ?? unit.node);
      if (!seen.has(key)) waiting.push(unit);
      seen.add(key);
    },
  });
  const read: Read[] = [];
  const named = new Set<ts.Node>();
  const add = (
    name: string,
    node: ts.Node,
    entries: readonly FunctionNode[],
    isGuess: boolean,
    entry: UnitEntry,
    body: () => void,
  ): void => {
    machine.restart();
    withinLimits(machine, node, body);
    for (const fn of machine.called) called.add(fn);
    const steps = tidySteps(machine.emitter.steps, machine.shown) as readonly UnitStep[];
    if (steps.some(does))
      read.push({
        isCallerLost: machine.isCallerLost,
        unit: {
          name,
          place: project.place(node),
          steps,
          code: [...new Set([...entries, ...machine.called])].map((fn) => project.lines(fn)),
          entry,
        },
        entries,
        called: new Set(machine.called),
        isGuess,
      });
  };
  const ofDatabase = new Map<FunctionNode, boolean>();
  const drain = (): void => {
    for (let found = waiting.shift(); found !== undefined; found = waiting.shift()) {
      const before = middlewareBefore(machine, found).filter((fn) => reachesDatabase(machine, fn, ofDatabase));
      const guards = (found.guards ?? []).filter((fn) => reachesDatabase(machine, fn, ofDatabase));
      const unit: FoundUnit = { ...found, functions: [...before, ...found.functions], guards };
      const { name, node, functions, kind } = found;
      machine.isSetup = kind === 'callback';
      add(
        name,
        node,
        isMade(unit) ? [] : functions.map((fn) => fn.node),
        kind !== 'route' && !functions.some((fn) => named.has(fn.node)),
        entryOf(project, unit),
        // What it writes to variables of files, the next unit does not see.
        kind === 'callback'
          ? () => runUnit(machine, unit)
          : () => void machine.memory.during(() => runUnit(machine, unit)),
      );
    }
  };
  for (const file of inImportOrder(project)) {
    machine.isSetup = true;
    const [first] = file.statements;
    if (first !== undefined)
      add(project.place(file).file, first, [], false, entryOfFile, () =>
        machine.block(file.statements, machine.globals.scope),
      );
  }
  for (const unit of entryPoints.flatMap((entry) => namedUnits(machine, entry))) {
    for (const { node } of unit.functions) named.add(node);
    machine.found(unit);
  }
  drain();
  for (const file of project.files) {
    machine.restart();
    withinLimits(machine, file, () => {
      for (const unit of exportedUnits(machine, file)) machine.found(unit);
    });
  }
  drain();
  const statements = statementsOf(machine);
  for (let round = 0; round < lostRoundsMax; round++) {
    const { kept, alone, entries } = parted(read, named);
    const all = [...kept, ...alone].map(({ unit }) => unit);
    const lost = withoutCaller(machine, unrunBy(machine, statements, all, { called, entries }));
    for (const unit of lost) machine.found(unit);
    if (waiting.length === 0) break;
    drain();
  }
  const { kept, alone, entries } = parted(read, named);
  const units = withUniqueNames(kept.map(({ unit }) => unit).toSorted(byPlace));
  const all = [...units, ...alone.map(({ unit }) => unit)];
  return {
    units,
    notUnderstood: unreached(machine, statements, all, { called, entries }),
    assumed: [...machine.assumed, ...callersAssumed(kept)],
    leftOut: seedsLeftOut(alone),
  };
}

/** What a function that no other calls makes may hold functions that no other calls. */
const lostRoundsMax = 4;

interface Parted {
  readonly kept: readonly Read[];
  readonly alone: readonly Read[];
  /** Functions with which they begin. */
  readonly entries: ReadonlySet<ts.Node>;
}

function parted(read: readonly Read[], named: ReadonlySet<ts.Node>): Parted {
  const isNamed = ({ entries }: Read): boolean => entries.some((entry) => named.has(entry));
  const alone = read.filter((one) => runsAlone(one.unit.place.file) && !isNamed(one));
  const kept = withoutCalled(read.filter((one) => !alone.includes(one)));
  return { kept, alone, entries: new Set<ts.Node>([...kept, ...alone].flatMap((each) => each.entries)) };
}

/** A seed fills the database of a developer or a test before any client runs. */
function runsAlone(path: string): boolean {
  return /(?:^|\/)(?:seeds|seeders)\/|(?:^|\/)seed\.[cm]?[jt]sx?$/.test(path);
}

/** Their callers might be in a transaction, and pass its handle. */
function callersAssumed(kept: readonly Read[]): readonly string[] {
  const names = kept.flatMap(({ unit, isCallerLost }) => (isCallerLost ? [unit.name] : [])).toSorted();
  return names.length === 0 ? [] : [`callers of ${listed(names)}, which were not found, have no transaction open`];
}

function seedsLeftOut(alone: readonly Read[]): readonly string[] {
  const files = new Set(alone.map(({ unit }) => unit.place.file));
  return [...files].toSorted().map((file) => `${file} runs while no other transaction does: it is a seed`);
}

/** Does it run a statement, begin a transaction or throw? Other middleware only reads the request. */
function reachesDatabase(machine: Machine, fn: FunctionValue, known: Map<FunctionNode, boolean>): boolean {
  const before = known.get(fn.node);
  if (before !== undefined) return before;
  machine.restart();
  machine.isSetup = false;
  withinLimits(machine, fn.node, () => void machine.memory.during(() => runHandlers(machine, [fn], fn.node)));
  const reaches = machine.emitter.written > 0;
  known.set(fn.node, reaches);
  return reaches;
}

/** A function that a call makes, as it makes others: what it runs tells them apart. */
function isMade({ kind, node, functions: [fn] }: FoundUnit): boolean {
  return kind === 'function' && fn !== undefined && fn.node !== node;
}

function runUnit(machine: Machine, unit: FoundUnit): void {
  const { functions, kind, node, isCallerLost = false } = unit;
  const [guard, ...guards] = unit.guards ?? [];
  machine.isCallerLost = isCallerLost;
  if (guard !== undefined) {
    const allowed = machine.settle(machine.invoke(guard, ownArguments(machine, guard), node), node);
    const isAllowed = allowed.kind === 'external' ? isTrue : truthOf(allowed);
    const run = (): Completion => (runUnit(machine, { ...unit, guards }), normalCompletion);
    if (allowed.kind !== 'never') machine.fork(isAllowed, run, () => normalCompletion);
    return;
  }
  if (kind === 'route') return runHandlers(machine, functions, node);
  // The caller awaits what a function that is not async gives.
  for (const fn of functions)
    machine.shown.push(valueOf(machine.settle(machine.invoke(fn, ownArguments(machine, fn), node), node)));
}

function ownArguments(machine: Machine, { node }: FunctionValue): readonly Abstract[] {
  const { ts } = machine.project;
  return node.parameters.map((parameter) => {
    const { name } = parameter;
    const given: Abstract = plain({ kind: 'argument', name: ts.isIdentifier(name) ? name.text : request });
    // `@CurrentUser() user` of the application, which a guard set.
    const isOwn = (ts.getDecorators(parameter) ?? []).some(
      ({ expression }) => !givenByFramework.test(expression.getText()),
    );
    return isOwn ? allAttached(machine, given) : given;
  });
}

const givenByFramework =
  /^(?:Param|Body|Query|Headers|Req|Request|Res|Response|Next|HostParam|Ip|Session|Uploaded\w*|Inject\w*|Args|Payload)\b/;

/** Functions at the top of a file, exported or not, and methods of its classes. @throws InputError `analyze/unit` where there is none */
function namedUnits(machine: Machine, { text, name, matches }: EntryPoint): readonly FoundUnit[] {
  const { project } = machine;
  const { ts, checker, files } = project;
  machine.restart();
  const found = files
    .filter((file) => matches(project.place(file).file))
    .flatMap((file) =>
      file.statements
        .flatMap((one): readonly ts.NamedDeclaration[] => {
          if (ts.isVariableStatement(one)) return one.declarationList.declarations;
          return ts.isFunctionDeclaration(one) || ts.isClassDeclaration(one) ? [one] : [];
        })
        .flatMap((declaration) => {
          const symbol = declaration.name === undefined ? undefined : checker.getSymbolAtLocation(declaration.name);
          if (symbol === undefined) return [];
          return unitsOf(machine, symbol.name, machine.evaluateSymbol(symbol), declaration, file, 0);
        }),
    )
    .filter((unit) => unit.name === name);
  if (found.length === 0) throw new InputError('analyze/unit', `no file of the source has the function of ${text}`);
  return found;
}

/** Exported functions and the methods of exported classes. */
function exportedUnits(machine: Machine, file: ts.SourceFile): readonly FoundUnit[] {
  const { checker } = machine.project;
  const module = checker.getSymbolAtLocation(file);
  if (module === undefined) return [];
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0];
    if (declaration === undefined) return [];
    const value = machine.evaluateSymbol(symbol);
    return unitsOf(machine, symbol.name, value, declaration, file, 0);
  });
}

function unitsOf(
  machine: Machine,
  name: string,
  value: Abstract,
  node: ts.Node,
  file: ts.SourceFile,
  depth: number,
): readonly FoundUnit[] {
  if (value.kind === 'function') {
    const isOwn = value.node.getSourceFile() === file;
    // `export const signIn = validated(schema, async (data) => ...)`: what a function of another file made here.
    const isMadeHere = !isOwn && node.getSourceFile() === file && value.scope !== machine.globals.scope;
    if (isMadeHere && machine.project.ts.isVariableDeclaration(node))
      return [{ name: routeName(file, name) ?? name, node, functions: [value], kind: 'function' }];
    return isOwn && value.node.body !== undefined
      ? [
          {
            name: routeName(file, name) ?? nameOr(machine, value, name),
            node: value.node,
            functions: [value],
            kind: routeName(file, name) === undefined ? 'function' : 'route',
          },
        ]
      : [];
  }
  if (value.kind === 'class' && value.node.getSourceFile() === file) {
    return methodUnits(machine, value, injectedInstance(machine, value, node), name);
  }
  if (value.kind === 'object' && value.of?.node.getSourceFile() === file)
    return methodUnits(machine, value.of, value, name);
  if (value.kind !== 'object' || depth > 1) return [];
  return [...value.properties].flatMap(([key, cell]) =>
    unitsOf(machine, value.of === null ? key : `${name}.${key}`, cell.value, node, file, depth + 1),
  );
}

/** Of an exported class, or of an exported object of a class. */
function methodUnits(machine: Machine, type: ClassValue, instance: Abstract, name: string): readonly FoundUnit[] {
  const { ts } = machine.project;
  const owner = type.node.name?.text ?? name;
  const isRow = isRowClass(machine, type);
  return type.node.members.flatMap((member): readonly FoundUnit[] => {
    if (!ts.isMethodDeclaration(member) || member.body === undefined) return [];
    const self = isRow ? rowOf(instance) : instance;
    const scope = new Scope(type.scope, self);
    const fn: FunctionValue = { kind: 'function', node: member, scope, self };
    const route = decoratedRoute(machine, type.node, member);
    const guards = route === undefined ? [] : guardsOf(machine, type.node, member);
    const unit = route ?? `${owner}.${member.name.getText()}`;
    return [{ name: unit, node: member, functions: [fn], kind: 'function', guards }];
  });
}

/** A row's object has what its row has, which the program did not set. */
function rowOf(instance: Abstract): Abstract {
  if (instance.kind !== 'object' || instance.rest !== null) return instance;
  const given = [...instance.properties].filter(([, { value }]) => value.kind !== 'undefined');
  return { ...instance, properties: new Map(given), rest: plain({ kind: 'argument', name: 'this' }) };
}

function nameOr(machine: Machine, { node }: FunctionValue, name: string): string {
  return name === 'default' || name === 'export=' ? (nameOf(node, machine.project.ts) ?? name) : name;
}

/** Next.js and SvelteKit: `export function POST` of `app/payments/route.ts` or `routes/payments/+server.ts`. */
function routeName(file: ts.SourceFile, name: string): string | undefined {
  const [, , path] = /\/(app|routes)(\/.*?)?\/(?:route|\+server)\.[jt]sx?$/.exec(file.fileName) ?? [];
  const isRoute = path !== undefined && /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(name);
  return isRoute ? `${name} ${path.replaceAll(/\/\([^)]*\)/g, '')}` : undefined;
}

/** NestJS: `@Post('capture')` in `@Controller('payments')`. */
function decoratedRoute(
  machine: Machine,
  owner: ts.ClassLikeDeclaration,
  method: ts.MethodDeclaration,
): string | undefined {
  const prefix = decorators(machine, owner).find(({ name }) => name === 'Controller')?.path ?? '';
  const verb = decorators(machine, method).find(({ name }) => /^(?:Get|Post|Put|Patch|Delete|All)$/.test(name));
  if (verb === undefined) return undefined;
  const path = [prefix, verb.path].join('/').split('/').filter(Boolean).join('/');
  return `${verb.name.toUpperCase()} /${path}`;
}

function decorators(
  machine: Machine,
  node: ts.ClassLikeDeclaration | ts.MethodDeclaration,
): readonly { readonly name: string; readonly path: string }[] {
  const { ts } = machine.project;
  return (ts.getDecorators(node) ?? []).flatMap(({ expression }) => {
    if (!ts.isCallExpression(expression)) return [];
    const [path] = expression.arguments;
    return [
      {
        name: expression.expression.getText(),
        path: path !== undefined && ts.isStringLiteralLike(path) ? path.text : '',
      },
    ];
  });
}

function withoutCalled(read: readonly Read[]): readonly Read[] {
  return read.filter(
    (one) =>
      !one.isGuess ||
      !read.some(
        (other) =>
          other !== one && calls(other, one) && !(calls(one, other) && read.indexOf(one) < read.indexOf(other)),
      ),
  );
}

function calls(a: Read, b: Read): boolean {
  return b.entries.some((entry) => a.called.has(entry) && !a.entries.includes(entry));
}

function byPlace({ place: a }: Unit, { place: b }: Unit): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line;
}

function withUniqueNames(units: readonly Unit[]): readonly Unit[] {
  const count = (name: string): number => units.filter((unit) => unit.name === name).length;
  const placed = units.map((unit) =>
    count(unit.name) > 1 ? { ...unit, name: `${unit.name} (${unit.place.file})` } : unit,
  );
  return placed.map((unit, index) => {
    const before = placed.slice(0, index).filter(({ name }) => name === unit.name).length;
    return before === 0 ? unit : { ...unit, name: `${unit.name} ${before + 1}` };
  });
}
