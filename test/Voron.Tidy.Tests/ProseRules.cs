using System.Text.RegularExpressions;

namespace Voron.Tidy.Tests;

/// <summary>Constructions that the project's prose does not use, and the wording that takes their place.</summary>
internal static class ProseRules
{
    private const string Space = @"(?:\s+|-)";

    /// <summary>
    /// In a construction, a space matches any white space or a hyphen, a star the rest of a word, and a bar separates alternatives for one word.
    /// Case is ignored. An exclamation mark begins words that make the construction a good one when they follow.
    /// </summary>
    private static readonly (string Construction, string Better)[] Table =
    [
        ("whoever", "name the actor: the writer, a waiting caller, the flusher"),
        ("whomever", "name the actor"),
        ("somebody|someone", "name the actor: a thread, a caller, another process"),
        ("anybody|anyone", "name the actor: any thread, any caller, any process"),
        ("nobody", "name the actor: no thread, no caller, no process"),
        ("everybody|everyone", "name the actors: all threads, all callers, every waiter"),
        ("no one", "name the actor: no thread, no caller, no process"),
        ("let|lets|letting go of", "release"),
        ("is|are|was|were|be|been|being told ! apart|from", "is notified; learns; receives"),
        ("tells|tell|told of", "reports"),
        ("hears|hear|heard of", "learns of; receives; sees"),
        ("by itself", "alone; on its own; automatically"),
        ("at home", "in the data file"),
        ("so many", "that many; as many; the number"),
        ("want of", "for lack of; because there is no"),
        ("takes|take|took it on", "claims"),
        ("he|she|him|her|his|himself", "name the actor; it"),
        ("made|make|makes anew", "recreated; rebuilt; made again"),
        ("looks|look|looked|looking whether", "checks whether"),
        ("what is not", "name the thing: unflushed versions, unsaved pages"),
        ("what they", "name the thing"),
        ("vouch*", "confirm; guarantee; durability marker"),
        ("rewrite file*", "journal snapshot"),
        ("life number*", "epoch"),
        ("merged write*", "group commit"),
        ("merged operation*", "operation of a group commit"),
        ("home page*", "data-file page"),
        ("whole image*", "full-page image"),
        ("keeper*", "version reclaimer"),
        ("come|comes|came about", "happens; is created"),
        ("goes|going|went|gone on", "continues"),
        ("past its|their time|times", "expired"),
        ("to and fro", "back and forth; alternates"),
        ("beside readers|writers", "while others read or write"),
        ("stands|stood still", "stops"),
        ("is|are|was|were there already", "already exists"),
    ];

    private static readonly (Regex Pattern, string Construction, string Better)[] Rules =
        Table.Select(rule => (Pattern(rule.Construction), rule.Construction, rule.Better)).ToArray();

    /// <summary>Each use of a construction, as place, words and better wording.</summary>
    public static IEnumerable<string> Find(string path, string prose) =>
        from rule in Rules
        from Match match in rule.Pattern.Matches(prose)
        let line = prose.AsSpan(0, match.Index).Count('\n') + 1
        orderby line
        select $"{path}:{line} \"{Regex.Replace(match.Value, @"\s+", " ")}\": {rule.Better}";

    /// <summary>The constructions that none of the sentences contains.</summary>
    public static IReadOnlyList<string> Missing(IReadOnlyCollection<string> sentences) =>
        Rules.Where(rule => !sentences.Any(rule.Pattern.IsMatch)).Select(rule => rule.Construction).ToList();

    private static Regex Pattern(string construction)
    {
        var parts = construction.Split(" ! ");
        var follows = parts.Length > 1 ? $@"(?!{Space}{Words(parts[1])}\b)" : "";
        return new($@"\b{Words(parts[0])}\b{follows}", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);
    }

    private static string Words(string words) => string.Join(Space, words.Split(' ').Select(word => $"(?:{word.Replace("*", @"\w*")})"));
}
