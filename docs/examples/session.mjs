// A session with fetch, in a browser or in Node.js: begin it, tell it of a call, listen to it.
export async function run(url, token) {
  const api = async (method, path, body) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.detail ?? found.title);
    return found;
  };
  const agent = await api("POST", "/agents", { name: "in a browser", windows: { contextWindow: 96000 } });
  const session = await api("POST", "/sessions", { agent: agent.id });
  const prompt = { role: "user", content: "Which day is it?" };
  const ready = await api("POST", `/sessions/${session.id}/prepare`, { form: "openai", prompt });
  // ... send ready.messages to a model; its answer and its usage go back:
  const answer = { role: "assistant", content: "Tuesday." };
  const stored = await api("POST", `/sessions/${session.id}/calls`, {
    form: "openai",
    messages: [prompt, answer],
    usage: { prompt_tokens: 48000, completion_tokens: 5 },
  });
  // What happened, from the beginning; with ?after=N only what came later.
  const events = await api("GET", `/sessions/${session.id}/events`);
  return { sent: ready.messages, fill: stored.pressure.fill, kinds: events.map((event) => event.kind) };
}
