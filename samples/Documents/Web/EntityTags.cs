using System.Globalization;
using Microsoft.Extensions.Primitives;
using Voron.Tables;

namespace Voron.Documents.Web;

/// <summary>Versions of documents as entity tags.</summary>
internal static class EntityTags
{
    public static string Of(RowVersion version) => $"\"{version}\"";

    /// <summary>Returns the version that a request expects a document to have; null for any.</summary>
    /// <param name="request">The request.</param>
    /// <param name="exists">Whether there is a document.</param>
    /// <exception cref="ServerException">A header is no version, or the document is not there.</exception>
    public static RowVersion? Expected(HttpRequest request, Func<bool> exists)
    {
        var (match, noneMatch) = (request.Headers.IfMatch, request.Headers.IfNoneMatch);
        if (noneMatch.Count > 0)
        {
            return noneMatch == "*" && match.Count == 0
                ? RowVersion.None
                : throw new ServerException(StatusCodes.Status400BadRequest, "If-None-Match is for a new document: it must be *, and be without If-Match.");
        }

        if (match.Count == 0)
            return null;
        if (match == "*")
            return exists() ? null : throw new ServerException(StatusCodes.Status412PreconditionFailed, "There is no such document, and If-Match expects one.");
        return Parse(match) ?? throw new ServerException(
            StatusCodes.Status400BadRequest, $"If-Match is {match}, and must be one version in quotes, as the header ETag of an answer has it, or *.");
    }

    /// <summary>Returns whether the client has this version already.</summary>
    public static bool IsKnown(HttpRequest request, string tag) =>
        request.Headers.IfNoneMatch.Any(value => value!.Split(',', StringSplitOptions.TrimEntries).Any(known => known == tag || known == $"W/{tag}" || known == "*"));

    private static RowVersion? Parse(StringValues value) =>
        value.Count == 1 && value[0] is ['"', .. var number, '"'] && long.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var version)
            ? new RowVersion(version)
            : null;
}
