namespace Voron.Analyzers.Tests;

/// <summary>Snippets, each by a phrase that describes it, as the data of a theory.</summary>
internal sealed class SnippetData : Dictionary<string, string>
{
    public TheoryData<string> Names => [.. Keys];
}
