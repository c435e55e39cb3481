/** The files as Node.js runs them: what a file imports runs before it. Associations of models stand in other files than the models. */
import type ts from 'typescript';
import type { Project } from './project.ts';

export function inImportOrder(project: Project): readonly ts.SourceFile[] {
  const ordered = new Set<ts.SourceFile>();
  const begun = new Set<ts.SourceFile>();
  const visit = (file: ts.SourceFile): void => {
    if (begun.has(file)) return;
    begun.add(file);
    for (const name of importsOf(project, file)) {
      const imported = project.resolve(name, file);
      if (imported !== undefined) visit(imported);
    }
    ordered.add(file);
  };
  project.files.forEach(visit);
  return [...ordered];
}

/** Names of modules in `import`, `export ... from` and `require` at the top of a file. */
function importsOf({ ts }: Project, file: ts.SourceFile): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) || ts.isTypeNode(node)) return;
    const given =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'require'
          ? node.arguments[0]
          : undefined;
    if (given !== undefined && ts.isStringLiteralLike(given)) names.push(given.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}
