import { registerHooks } from 'node:module';

/**
 * Imported for its effect, before a package is loaded by `await import`: packages are then read as published, although
 * this repository's own are read from their sources. Some packages publish sources as well, which Node.js does not run.
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
