import { Life } from './life.ts';
import { ServiceProcess } from './service-process.ts';

/** A small world whose service is a separate process, which tests can kill and restart. */
export interface LifeWithProcess {
  readonly life: Life;
  readonly service: ServiceProcess;
}

/** Starts the world and the mining of its chains. */
export async function startLifeWithProcess(): Promise<LifeWithProcess> {
  const started = Promise.withResolvers<ServiceProcess>();
  const life = await Life.start(async (options) => {
    const service = new ServiceProcess(options);
    await service.start();
    started.resolve(service);
    return service;
  });
  life.mine();
  return { life, service: await started.promise };
}
