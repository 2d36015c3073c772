import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { openService, type OpenServiceOptions } from "../lib/service/open_service.ts";
import type { Frame, RunReader, Service } from "../lib/service/service.ts";
import { type TestProject, testProject } from "./_project.ts";

/** A project that is held open in this process. */
export interface TestService extends AsyncDisposable {
  readonly project: TestProject;
  readonly service: Service;
  readonly notices: readonly string[];
}

/** Makes the project and opens it; `await using` stops it and removes the project. */
export async function serviceOf(
  files: Readonly<Record<string, string>>,
  options: Partial<OpenServiceOptions> = {},
): Promise<TestService> {
  const project = await testProject({ "orrery.yaml": "", ...files });
  const notices: string[] = [];
  const service = await openService({
    folder: project.folder,
    ephemeral: false,
    grants: NO_GRANTS,
    notice: (text) => void notices.push(text),
    ...options,
  });
  return {
    project,
    service,
    notices,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** Reads until there is no more, or `until` holds for a frame; fails after 20 s. */
export async function framesOf(
  reader: RunReader,
  { until = () => false, maxBytes = 65_536 }: {
    readonly until?: (frame: Frame) => boolean;
    readonly maxBytes?: number;
  } = {},
): Promise<readonly Frame[]> {
  const all: Frame[] = [];
  const limit = setTimeout(() => reader.leave(), 20_000);
  try {
    for (;;) {
      const frames = await reader.next({ maxBytes });
      if (frames === undefined) return all;
      all.push(...frames);
      if (frames.some(until)) return all;
    }
  } finally {
    clearTimeout(limit);
    reader.leave();
  }
}

/** The types of the events among frames. */
export function typesOf(frames: readonly Frame[]): readonly string[] {
  return frames.flatMap((frame) => "event" in frame ? [frame.event.type] : []);
}
