import { registerHooks } from 'node:module';

/**
 * Imported for its side effect, before `await import` loads a package. Packages are then loaded as published,
 * although this repository loads its own from sources. Some packages also publish sources, which Node.js does not
 * run.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (context.parentURL?.includes('/node_modules/') !== true) return next(specifier, context);
    return next(specifier, {
      ...context,
      conditions: context.conditions.filter((name) => name !== 'source'),
    });
  },
});
