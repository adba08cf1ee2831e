// Package profile reads the tool calls of a broker's own MCP server, by a profile: a YAML
// document with a closed vocabulary and no expressions. It is pure; it knows neither
// limits nor rails, and asks nobody.
//
// What holds for every profile:
//
//   - Default deny. A tool that a profile does not name is refused, whatever its name,
//     description or annotations say.
//   - Total. Every argument that a tool takes is mapped, ignored with a reason, forced,
//     forbidden or secret; a call with any other argument is refused.
//   - Judged is forwarded. The arguments that go on are written anew from what was read,
//     with the server's defaults spelled out; the agent's bytes end here.
//   - A reading has one meaning. Numbers are taken by their literal text, words by exact
//     match, and whatever has two readings is refused.
//   - A reply proves only what a rule of the profile finds in it. The default is in doubt.
package profile
