/** Which libraries the sources use. */
import type { Project } from './project.ts';

const modules = new WeakMap<Project, ReadonlySet<string>>();

/** What the files import. */
export function modulesOf(project: Project): ReadonlySet<string> {
  const pattern = /\b(?:from|import|require)\s*\(?\s*['"]([^'"]+)['"]/g;
  const known =
    modules.get(project) ??
    new Set(project.files.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name = '']) => name)));
  modules.set(project, known);
  return known;
}
