import { dirname } from "../core/path.ts";
import { messageOf } from "../core/source_error.ts";
import { readConversationTests } from "./conversation_test_file.ts";
import type { ConversationTest } from "./conversation_test_file.ts";
import { runConversationTest } from "./conversation_test_run.ts";
import type { FileTest, TestFailure, TestSource } from "./file_test.ts";
import type { TestProject, TestProjects } from "./test_projects.ts";

/** The tests of a `*.conversation-test.yml`. @throws {ProblemsError} */
export async function conversationTests(
  source: TestSource,
  projects: TestProjects,
): Promise<readonly FileTest[]> {
  const project = await projects.of(dirname(source.path));
  return (await readConversationTests(source)).map((test) => ({
    name: test.name,
    span: test.span,
    run: () => failuresOf(test, project),
  }));
}

async function failuresOf(test: ConversationTest, project: TestProject): Promise<readonly TestFailure[]> {
  try {
    return await runConversationTest(test, project);
  } catch (error) {
    return [{ what: "run", span: test.span, message: messageOf(error) }];
  }
}
